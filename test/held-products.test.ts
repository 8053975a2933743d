import { expect, test } from "vitest";
import { currentConditions } from "../src/core/alerts/conditions.ts";
import { person } from "./support/pages.ts";
import { supplierDesk } from "./support/supplier-desk.ts";

const view = { host: "here", own: [], knowsCron: false };

/** A product that a sync holds, since its cost rose above the price that was set for it. */
async function held() {
  const here = await supplierDesk({ pages: true });
  const { desk, platform } = here;
  await desk.json("suppliers sync ea --markup 35 --prefix EA-");
  await desk.json("products update EA-CJP101 --price 0.90 --yes");
  here.list((all) => all.map((one) => (one.packageCode === "CJP101" ? { ...one, price: 9_500 } : one)));
  const alarms = async () =>
    (await platform.store.read(currentConditions, view)).map((one) => `${one.kind} ${one.subject}: ${one.detail}`);
  const seen = async () => {
    const { queues, waiting, held_products } = await desk.json("status");
    const queue = queues.find((one: { queue: string }) => one.queue === "products_held");
    return { queue, waiting, held_products };
  };
  return { ...here, alarms, seen };
}

test("a product held for its margin is in status, alarms and Today, with the way out, until decided", async () => {
  const { desk, platform, alarms, seen } = await held();
  const nothing = { queue: { queue: "products_held", waits_for: "staff", waiting: 0, oldest_at: null } };
  expect([await seen(), await alarms()]).toEqual([{ ...nothing, waiting: [], held_products: [] }, []]);
  expect((await desk.run("status")).stdout).not.toContain("held for its margin");

  expect(await desk.json("suppliers sync ea")).toMatchObject({ held: 1 });
  const { updated_at: since } = await desk.json("products show EA-CJP101");
  const product = { sku: "EA-CJP101", supplier: "ea", price_cents: 90, currency: "USD" };
  expect(await seen()).toEqual({
    queue: { queue: "products_held", waits_for: "staff", waiting: 1, oldest_at: since },
    waiting: [{ for: "operator", act: "update", on: "margin", since, waiting: 1 }],
    held_products: [{ id: expect.any(String), ...product, cost: "0.9500", cost_currency: "USD", since }],
  });
  expect(await alarms()).toEqual([
    "product.held EA-CJP101: off sale: at 0.90 USD it sells below its cost of 0.9500 USD",
  ]);
  const { stdout } = await desk.run("status");
  expect(stdout).toMatch(/^products held +you +1 /m);
  expect(stdout).toMatch(/^EA-CJP101 +ea +0.90 USD +0.9500 USD/m);
  expect(stdout).toMatch(/products update SKU --price A sets a price, --status active accepts the margin/);

  const admin = await person(platform, { role: "admin" });
  const today = await admin.get("/console");
  expect(today.page.querySelector('a[href="#held"]')?.textContent).toBe("Products held for their margin");
  const page = await admin.get(today.page.querySelector("#held tbody a")?.getAttribute("href") ?? "");
  expect(page.text).toContain("margin is negative");

  await desk.json("products update EA-CJP101 --status active");
  expect([await seen(), await alarms()]).toEqual([{ ...nothing, waiting: [], held_products: [] }, []]);
});

test("what the operator took off sale, and a plan that is gone, are not held", async () => {
  const { desk, list, alarms, seen } = await held();
  await desk.json("products update EA-CKR101 --status inactive");
  list((all) => all.filter(({ packageCode }) => packageCode !== "CJP101"));
  expect(await desk.json("suppliers sync ea")).toMatchObject({ deactivated: 1, held: 0 });
  expect([await seen(), await alarms()]).toMatchObject([{ queue: { waiting: 0 }, held_products: [] }, []]);
});
