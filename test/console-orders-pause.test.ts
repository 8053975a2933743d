import { expect, test } from "vitest";
import { listAudit } from "../src/core/audit/list.ts";
import { pauseSupplier } from "../src/core/suppliers/pause.ts";
import { setSupplier } from "../src/core/suppliers/set.ts";
import { addProducts, addStock } from "./support/catalog.ts";
import { key, refusalOf } from "./support/guarded-shop.ts";
import { person, startPages } from "./support/pages.ts";
import { create, lines } from "./support/quotes.ts";
import { csrfOf } from "./support/visitor.ts";

const PAUSE = "/console/orders/pause";
const RESUME = "/console/orders/resume";

async function shop() {
  const platform = await startPages();
  const caller = await platform.caller({ slug: "acme", live: true });
  await platform.fund(caller.partnerId, 10_000);
  const { EU5 } = await addProducts(platform.store, [{ sku: "EU5", price_cents: 100 }]);
  await addStock(platform.store, "EU5", 5);
  const order = () => create(caller, lines([EU5, 1]), key());
  return { platform, order, admin: await person(platform, { role: "admin" }) };
}

test("an admin refuses new orders with a reason, gives another one, and accepts them again", async () => {
  const { platform, order, admin } = await shop();
  expect((await order()).status).toBe(201);
  const list = await admin.get("/console/orders");
  expect(list.page.querySelector(`a[href="${PAUSE}"]`)?.text).toBe("Pause new orders");
  const foreseen = await admin.send(await admin.get(PAUSE), { reason: "price update" });
  expect(foreseen.text).toContain("New orders of all partners are refused with 503");
  expect(foreseen.text).toContain("Partners read: price update1 order came in the last hour.");
  expect((await order()).status).toBe(201);
  const paused = await admin.send(foreseen, {}, "/pause");
  expect(paused.path).toBe("/console/orders");
  expect(paused.text).toMatch(/New orders are refused\..*New orders are paused since 2 Mar 2026, 01:00: price update/);
  const refused = await order();
  expect([...refusalOf(refused), refused.body.reason]).toEqual([503, "paused", "price update"]);
  const today = await admin.get("/console");
  expect(today.page.querySelector(`.alert a[href="${RESUME}"]`)?.text).toBe("Accept them again");

  platform.clock.advance(60_000);
  const other = await admin.send(await admin.get(PAUSE), { reason: "stock count" });
  expect(other.text).toContain("since 2 Mar 2026, 01:00: price update. Only the reason changes.");
  for (const _twice of [1, 2]) await admin.send(other, {}, "/pause");
  expect((await order()).body.reason).toBe("stock count");

  const asked = await admin.get(RESUME);
  expect(asked.text).toContain("01:00: stock count.New orders are accepted again");
  const resumed = await admin.send(asked, {}, "/resume");
  expect([resumed.path, resumed.text]).toEqual([list.path, expect.stringContaining("New orders are accepted.")]);
  expect(resumed.page.querySelector(`a[href="${RESUME}"]`)).toBeNull();
  expect((await order()).status).toBe(201);
  const trail = await platform.store.read(listAudit, { target: "orders", limit: 10 });
  expect(trail.map(({ action, note, actor }) => [action, note, actor === `user:${admin.id}`])).toEqual([
    ["orders.resume", null, true],
    ["orders.pause", "stock count", true],
    ["orders.pause", "stock count", true],
    ["orders.pause", "price update", true],
  ]);
});

test("where no pause is on, to resume changes nothing, and says which suppliers stay paused", async () => {
  const { platform, admin } = await shop();
  const settings = { adapter: "esimgo", url: "https://esimgo.example.com", secret: "api-key" } as const;
  await platform.store.write(setSupplier, { name: "kestrel", settings, actor: "test" });
  await platform.store.write(pauseSupplier, { name: "kestrel", reason: "maintenance", actor: "test" });
  const today = await admin.get("/console");
  expect(today.page.querySelector(".alert a")?.getAttribute("href")).toBe("/console/suppliers/kestrel");
  const asked = await admin.get(RESUME);
  expect(asked.text).toMatch(/No pause is on: nothing changes\..*Paused: kestrel\./);
  expect((await admin.send(asked, {}, "/resume")).text).toContain("New orders are accepted.");
  expect(await platform.store.read(listAudit, { target: "orders", limit: 1 })).toEqual([]);
});

test("a reason is needed and has its bound, and only admins pause", async () => {
  const { platform, order, admin } = await shop();
  for (const [reason, words] of [
    ["", "Reason is required."],
    ["x".repeat(201), "Reason must have 1 to 200 characters."],
  ] as const) {
    const refused = await admin.send(await admin.get(PAUSE), { reason });
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining(words)]);
  }
  for (const role of ["support", "finance", "viewer"] as const) {
    const one = await person(platform, { role });
    const list = await one.get("/console/orders");
    expect([list.status, list.text.includes("Pause new orders")]).toEqual([200, false]);
    const typed = { ...csrfOf(list), reason: "x", confirmed: "yes" };
    for (const at of [PAUSE, RESUME]) {
      expect((await one.get(at)).status, `${role} ${at}`).toBe(403);
      expect((await one.post(at, typed, { origin: platform.url })).status, `${role} ${at}`).toBe(403);
    }
  }
  expect((await order()).status).toBe(201);
});
