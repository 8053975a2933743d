import { expect, test } from "vitest";
import { ACTIVATIONS, request } from "./support/activations.ts";
import { addProducts } from "./support/catalog.ts";
import { person, startPages } from "./support/pages.ts";

test("forms hold the limits of the API, and name the field by its label", async () => {
  const platform = await startPages();
  const { "EU-1": id = "" } = await addProducts(platform.store, [{ sku: "EU-1", price_cents: 990 }]);
  const caller = await platform.caller({ slug: "acme", live: true });
  await platform.fund(caller.partnerId, 10_000);
  const { body: activation } = await caller.send("POST", ACTIVATIONS, request());
  const owner = await person(platform, { partner: "acme", role: "owner" });
  const [url, events] = ["https://shop.example.com/hooks", "order.created"];
  const order = { product: "EU-1", quantity: "1" };
  const unknown = id.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
  const refused = [
    ["/portal/orders", { ...order, quantity: "10001" }, "Quantity must be between 1 and 10000"],
    ["/portal/orders", { ...order, quantity: "0" }, "Quantity must be between 1 and 10000"],
    ["/portal/orders", { ...order, product: "EU-2" }, "Product is not a product of the catalog"],
    ["/portal/orders", { ...order, product: unknown }, "Product is not a product of the catalog"],
    [
      "/portal/orders",
      { ...order, external_order_id: "x".repeat(256) },
      "Your own ID of it must be 1 to 255 characters",
    ],
    ["/portal/developers", { environment: "sandbox", label: "x".repeat(201) }, "Label must be at most 200 characters"],
    ["/portal/developers/webhooks", { url, events, description: "x".repeat(501) }, "Description must be at most 500"],
    ["/portal/developers/webhooks", { url: `${url}/${"x".repeat(2_048)}`, events }, "URL must be at most 2048"],
    ["/portal/developers/webhooks", { url, events: "order.made" }, "must be one of"],
    [
      `/portal/activations/${activation.id}`,
      { act: "cancel", reason: "x".repeat(501) },
      "Reason of a cancellation must be at",
    ],
  ] as const;
  for (const [path, form, words] of refused) {
    const sent = await owner.send(await owner.get(path), form);
    expect([path, sent.status, sent.text]).toEqual([path, 400, expect.stringContaining(words)]);
    // Above the form, and not at its field alone.
    expect(sent.page.querySelector(".alert")?.textContent).toContain(words);
  }
  const placed = await owner.send(await owner.get("/portal/orders"), { ...order, product: id.toUpperCase() });
  expect(placed.text).toContain("is placed.");
});
