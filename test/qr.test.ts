import { expect, test } from "vitest";
import { addProducts } from "./support/catalog.ts";
import { call, startPlatform } from "./support/platform.ts";

test("QR code and install page open without a token, by an unguessable address, once delivered", async () => {
  const platform = await startPlatform();
  const products = await addProducts(platform.store, [{ sku: "EU5", name: "Europe <5> GB" }]);
  const caller = await platform.caller();
  const body = { line_items: [{ product_id: products.EU5, quantity: 1 }] };
  const created = await caller.send("POST", "/api/v1/orders", body, { "idempotency-key": "qr" });
  await platform.fulfill();
  const delivered = await caller.get(`/api/v1/orders/${created.body.id}/esims`);
  const [esim] = delivered.body.esims;
  const at = (link: string) => platform.url + new URL(link).pathname;
  const png = await fetch(at(esim.qr_code_url));
  expect(png.headers.get("content-type")).toBe("image/png");
  expect(
    Buffer.from(await png.arrayBuffer())
      .subarray(1, 4)
      .toString(),
  ).toBe("PNG");
  const svg = await call(at(esim.qr_code_url).replace(/png$/, "svg"));
  expect(svg.body).toContain("<svg");
  const page = await call(at(esim.install_url));
  expect(page.body).toContain("Europe &lt;5&gt; GB");
  expect(page.body).toContain(encodeURIComponent(esim.activation_code));
  const guessed = at(esim.qr_code_url).replace(/.\.png$/, (end) => (end[0] === "A" ? "B.png" : "A.png"));
  expect((await call(guessed)).status).toBe(404);
});
