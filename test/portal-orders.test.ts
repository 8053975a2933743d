import { expect, test } from "vitest";
import { listSessions, viewAs } from "../src/core/accounts/sessions.ts";
import { listAudit } from "../src/core/audit/list.ts";
import type { OrderId } from "../src/core/kernel/brand.ts";
import { refundOrder } from "../src/core/orders/refund.ts";
import { addProducts, addStock } from "./support/catalog.ts";
import { person, startPages } from "./support/pages.ts";
import { create, lines } from "./support/quotes.ts";
import { csrfOf } from "./support/visitor.ts";

test("an owner places an order by the form, which acts once however often it is sent", async () => {
  const platform = await startPages();
  const { partnerId } = await platform.caller({ slug: "acme", live: true });
  await platform.fund(partnerId, 10_000);
  await addProducts(platform.store, [{ sku: "EU-1", price_cents: 990 }]);
  await addStock(platform.store, "EU-1", 5);
  const owner = await person(platform, { partner: "acme", role: "owner" });
  const form = await owner.get("/portal/orders");
  const quoted = await owner.post("/portal/orders/quote", { ...csrfOf(form), product: "EU-1", quantity: "2" });
  expect(quoted.text).toContain("Total 19.80 AUD");
  const placed = await owner.send(form, { product: "EU-1", quantity: "2" });
  expect([placed.status, placed.text]).toEqual([200, expect.stringContaining("is placed")]);
  const again = await owner.send(form, { product: "EU-1", quantity: "2" });
  expect(again.path).toBe(placed.path);
  expect((await owner.get("/portal")).text).toContain("80.20 AUD");
  const refused = await owner.send(await owner.get("/portal/orders"), { product: "EU-1", quantity: "900" });
  expect([refused.status, refused.text]).toEqual([402, expect.stringContaining("is missing")]);
  const csv = await owner.get("/portal/orders?format=csv");
  expect(csv.html.split("\n")[1]).toMatch(/^ORD-.*,19.80,/);

  const shown = await owner.get(placed.path);
  expect(shown.text).not.toContain("Refunded");
  const id = placed.path.split("/").at(-1) as OrderId;
  const part = { line: 1, units: 1, amount: null, reason: "goodwill", actor: "test" };
  await platform.store.write(refundOrder, { id, ...part });
  expect((await owner.get(placed.path)).text).toMatch(/Refunded ?9\.90 AUD/);
});

test("the overview says what was spent, and shows balances to those alone who may read the wallet", async () => {
  const platform = await startPages();
  const caller = await platform.caller({ slug: "acme", live: true });
  await platform.fund(caller.partnerId, 10_000);
  const { "EU-1": product } = await addProducts(platform.store, [{ sku: "EU-1", price_cents: 990 }]);
  await addStock(platform.store, "EU-1", 2);
  const order = await create(caller, lines([product, 2]));
  const owner = await person(platform, { partner: "acme", role: "owner" });
  const shown = async () => (await owner.get("/portal")).text;
  expect(await shown()).toContain("Spend on orders: 19.80 AUD,");
  const id = order.body.id as OrderId;
  await platform.store.write(refundOrder, { id, line: 1, units: 1, amount: null, reason: "goodwill", actor: "test" });
  expect(await shown()).toContain("Spend on orders: 9.90 AUD, without failed and cancelled ones and refunds.");
  expect(await shown()).toContain("90.10 AUD");
  const developer = await person(platform, { partner: "acme", role: "developer" });
  const other = (await developer.get("/portal")).text;
  expect([other.includes("90.10"), other.includes("Balance")]).toEqual([false, false]);
});

test("a form that was opened in one environment places nothing in the other", async () => {
  const platform = await startPages();
  const { partnerId } = await platform.caller({ slug: "acme", live: true });
  await platform.fund(partnerId, 10_000);
  await addProducts(platform.store, [{ sku: "EU-1", price_cents: 990 }]);
  await addStock(platform.store, "EU-1", 5);
  const owner = await person(platform, { partner: "acme", role: "owner" });
  await owner.send(await owner.get("/portal"), { environment: "sandbox" });
  const form = await owner.get("/portal/orders");
  expect(form.page.querySelector('main a[href$="/orders/bulk"]')).not.toBeNull();
  await owner.send(form, { environment: "production" });
  const typed = { product: "EU-1", quantity: "1" };
  const opened_in = form.page.querySelector('main input[name="opened_in"]')?.getAttribute("value") ?? "";
  const quoted = await owner.post("/portal/orders/quote", { ...csrfOf(form), ...typed, opened_in });
  expect([quoted.status, quoted.text]).toEqual([409, expect.stringContaining("opened in the sandbox environment")]);
  const refused = await owner.send(form, typed);
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining("nothing was done")]);
  expect((await owner.get("/portal")).text).toContain("100.00 AUD");
  // The form that is shown again is of the environment that is on now.
  expect((await owner.send(refused, typed)).text).toContain("is placed");
  expect((await owner.get("/portal")).text).toContain("90.10 AUD");
});

test("staff that look at a partner's order leave a line in the audit trail where they see codes", async () => {
  const platform = await startPages();
  const { store } = platform;
  const caller = await platform.caller({ slug: "acme", live: true });
  await platform.fund(caller.partnerId, 10_000);
  const ids = await addProducts(store, [{ sku: "EU-1", price_cents: 990 }]);
  await addStock(store, "EU-1", 3);
  const { body: order } = await create(caller, lines([ids["EU-1"], 2]));
  const staff = await person(platform, { role: "support" });
  const [session] = await store.read(listSessions, staff.id);
  if (session === undefined) throw new Error("there is no session");
  await store.write(viewAs, { id: session.id, partnerId: caller.partnerId, actor: "test" });
  const reads = async () => {
    const all = await store.read(listAudit, { target: order.id, limit: 20 });
    return all.filter(({ action }) => action === "orders.read-codes");
  };
  await platform.fulfill();
  await staff.get("/portal/orders");
  expect(await reads()).toEqual([]);
  expect((await staff.get(`/portal/orders/${order.id}`)).text).toContain("LPA:1$");
  expect(await reads()).toMatchObject([{ actor: `user:${staff.id}`, note: "2 eSIMs" }]);
  // The partner's own people read what is theirs.
  const owner = await person(platform, { partner: "acme", role: "owner" });
  expect((await owner.get(`/portal/orders/${order.id}`)).text).toContain("LPA:1$");
  expect(await reads()).toHaveLength(1);
});
