import { expect, test } from "vitest";
import { findStory } from "../src/core/find/find.ts";
import { platformStatus } from "../src/core/insight/status.ts";
import { addProducts } from "./support/catalog.ts";
import { startPlatform } from "./support/platform.ts";

test("on either engine status counts an order, and find shows its timeline by number, id and e-mail", async () => {
  const platform = await startPlatform();
  const { send } = await platform.caller();
  const { PLAN } = await addProducts(platform.store, [{ sku: "PLAN" }]);
  const line_items = [{ product_id: PLAN, quantity: 1 }];
  const orders = [{ external_order_id: "SHOP_1", line_items, customer: { email: "Ann@example.com", name: "Ann" } }];
  const made = await send("POST", "/api/v1/orders/bulk", { orders });
  expect(made.status).toBeLessThan(300);

  const seen = await platform.store.read(platformStatus, null);
  expect(seen.orders.total).toBe(1);
  expect(seen.queues.filter(({ waiting }) => waiting > 0).map(({ queue }) => queue)).toEqual(["orders_due"]);

  const story = await platform.store.read(findStory, "ann@EXAMPLE.com");
  const [order] = story.matched;
  expect(story.matched).toMatchObject([{ kind: "order" }]);
  expect(story.timeline.map(({ kind }) => kind)).toContain("webhook");
  for (const what of [order?.name, order?.id, "SHOP_1"]) {
    expect(await platform.store.read(findStory, what ?? "")).toEqual(story);
  }
  await expect(platform.store.read(findStory, "SHOPX1")).rejects.toMatchObject({ slug: "not_found" });
});
