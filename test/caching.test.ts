import { expect, test } from "vitest";
import { actOnOrder } from "../src/core/orders/act.ts";
import { addProducts, addStock } from "./support/catalog.ts";
import { unknownPath } from "./support/generic-scenarios.ts";
import { call, startPlatform } from "./support/platform.ts";

/** What any cache may keep, and for how long. Everything else holds personal data, codes or secrets, or may. */
const KEPT: Record<string, string> = {
  "/.well-known/jwks.json": "public, max-age=60",
  "/.well-known/oauth-authorization-server": "public, max-age=60",
  "/media/products/{id}.png": "public, max-age=86400",
  "/media/products/{id}.svg": "public, max-age=86400",
  "/openapi.json": "public, max-age=60",
  "/docs/reference.js": "public, max-age=3600",
  // With an ETag: the caller alone keeps it, and asks each time.
  "/api/v1/orders/{id}": "private, no-cache",
  "/api/v1/products": "private, no-cache",
};

test("no response may be cached unless it is public", async () => {
  const platform = await startPlatform();
  const { EU5 = "" } = await addProducts(platform.store, [{ sku: "EU5", price_cents: 100 }]);
  await addStock(platform.store, "EU5", 1);
  const caller = await platform.caller({ agent: true, live: true });
  await platform.fund(caller.partnerId, 1_000);
  const lines = { line_items: [{ product_id: EU5, quantity: 1 }] };
  const { body: order } = await caller.send("POST", "/api/v1/orders", lines, { "idempotency-key": "k" });
  await platform.fulfill();
  const { body } = await caller.get(`/api/v1/orders/${order.id}/esims`);
  const { qr_code_url, install_url } = body.esims[0];
  const paths: Record<string, string> = {
    "/api/v1/orders/{id}": `/api/v1/orders/${order.id}`,
    "/api/v1/orders/{id}/esims": `/api/v1/orders/${order.id}/esims`,
    "/api/v1/products/{id}": `/api/v1/products/${EU5}`,
    "/media/products/{id}.png": `/media/products/${EU5}.png`,
    "/media/products/{id}.svg": `/media/products/${EU5}.svg`,
    "/qr/{token}.png": new URL(qr_code_url).pathname,
    "/qr/{token}.svg": new URL(qr_code_url).pathname.replace(".png", ".svg"),
    "/install/{token}": new URL(install_url).pathname,
  };
  const document = (await call(`${platform.url}/openapi.json`)).body;
  const described = Object.keys(document.paths).filter((path) => "get" in document.paths[path]);
  for (const path of [...described, "/openapi.json", "/docs", "/docs/reference.js", "/docs/errors/validation", "/"]) {
    const { status, headers } = await caller.get(paths[path] ?? path);
    const expected = status < 400 ? (KEPT[path] ?? "no-store") : "no-store";
    expect(headers.get("cache-control"), `${path} ${status}`).toBe(expected);
    if (paths[path] !== undefined) expect(status, path).toBe(200);
  }
  expect((await call(platform.url + unknownPath("/media/products/{id}.svg"))).headers.get("cache-control")).toBe(
    "no-store",
  );
  for (const path of ["/nothing", "/things/%zz", "/api/v1/orders"]) {
    expect((await call(platform.url + path)).headers.get("cache-control"), path).toBe("no-store");
  }
});

test("a token and a webhook's secret are never cached", async () => {
  const platform = await startPlatform();
  const caller = await platform.caller();
  const headers = { "content-type": "application/json" };
  const grant = { grant_type: "client_credentials", client_id: caller.clientId, client_secret: caller.clientSecret };
  const token = { method: "POST", headers, body: JSON.stringify(grant) };
  const issued = await call(`${platform.url}/api/v1/oauth/token`, token);
  expect([issued.status, issued.headers.get("cache-control"), issued.headers.get("pragma")]).toEqual([
    200,
    "no-store",
    "no-cache",
  ]);
  const hook = { url: "https://hooks.example.com/x", events: ["order.created"] };
  const created = await caller.send("POST", "/api/v1/webhooks", hook);
  expect([created.status, created.headers.get("cache-control")]).toEqual([201, "no-store"]);
  const deleted = await caller.send("DELETE", `/api/v1/webhooks/${created.body.webhook.id}`);
  expect([deleted.status, deleted.headers.get("cache-control")]).toEqual([204, "no-store"]);
});

test("an ETag saves the body while an order or a list of products is unchanged", async () => {
  const platform = await startPlatform();
  const { CARD: product_id } = await addProducts(platform.store, [
    { sku: "CARD", price_cents: 100, product_type: "physical_sim", delivery_method: "shipping" },
  ]);
  const live = await platform.caller({ slug: "acme", live: true });
  const sandbox = await platform.credential("acme", {});
  await platform.fund(live.partnerId, 1_000);
  // As another process has it.
  const other = await platform.again();
  const asked = { line_items: [{ product_id, quantity: 1 }] };
  const { id } = (await live.send("POST", "/api/v1/orders", asked, { "idempotency-key": "etag" })).body;
  const path = `/api/v1/orders/${id}`;
  const first = await live.get(path);
  const etag = first.headers.get("etag") ?? "";
  expect([etag, first.headers.get("cache-control")]).toEqual([
    expect.stringMatching(/^W\/"[\w-]{22}"$/),
    "private, no-cache",
  ]);
  for (const sent of [etag, etag.slice(2), `"other", ${etag}`, "*"]) {
    const unchanged = await live.get(path, { "if-none-match": sent });
    const { headers } = unchanged;
    expect([sent, unchanged.status, unchanged.body, headers.get("etag")]).toEqual([sent, 304, "", etag]);
    expect(headers.get("cache-control")).toBe("private, no-cache");
  }
  // Another environment of the partner has no such order, whatever it names.
  expect((await sandbox.get(path, { "if-none-match": etag })).status).toBe(404);
  const parcel = { carrier: "Post", tracking: "T-1", trackingUrl: null };
  await other.write(actOnOrder, { id, act: { verb: "ship", ...parcel }, actor: "test" });
  const changed = await live.get(path, { "if-none-match": etag });
  expect([changed.status, changed.body.status]).toEqual([200, "fulfilled"]);
  expect(changed.headers.get("etag")).not.toBe(etag);

  const products = await live.get("/api/v1/products");
  const tag = { "if-none-match": products.headers.get("etag") ?? "" };
  expect((await live.get("/api/v1/products", tag)).status).toBe(304);
  await addProducts(other, [{ sku: "STOCK", price_cents: 200 }]);
  expect((await live.get("/api/v1/products", tag)).status).toBe(200);
});
