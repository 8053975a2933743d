import { expect, test } from "vitest";
import { listAudit } from "../src/core/audit/list.ts";
import { refundOrder } from "../src/core/orders/refund.ts";
import { simulateAiralo } from "../src/daemon/simulators/airalo.ts";
import { simulateEsimaccess } from "../src/daemon/simulators/esimaccess.ts";
import type { SimulatedProvider } from "../src/daemon/simulators/provider.ts";
import { deliverEsim } from "./support/esims.ts";
import { person } from "./support/pages.ts";
import { PRICE_CENTS, startProviderShop } from "./support/providers/shop.ts";
import { plans } from "./support/supply.ts";

async function sold(double: SimulatedProvider, quantity = 1) {
  const plan = plans[double.name];
  const shop = await startProviderShop(double, { plan: plan.supplierSku, cost: plan.cost, pages: true });
  const { iccids } = await shop.buy(quantity);
  const support = await person(shop, { role: "support" });
  const balance = async () => (await (await shop.current()).get("/api/v1/balance")).body.balances[0].balance_cents;
  return { ...shop, iccids, support, balance, at: `/console/esims/${iccids[0]}` };
}

test("support diagnoses an eSIM in the console by what its supplier shows", async () => {
  const { support, at, provider, iccids } = await sold(simulateEsimaccess({ perSecond: 1_000 }));
  expect((await support.get(at)).text).toContain("Diagnose");
  expect((await support.get(`${at}/diagnosis`)).text).toMatch(/It is ?never downloaded.*To the traveler.*Wi-Fi/);
  await provider.phone({ iccid: iccids[0] ?? "", state: "installed" });
  expect((await support.get(`${at}/diagnosis`)).text).toContain("installed, not switched on");
});

test("an eSIM is given back in the console: its unit is repaid once, under the name of who did it", async () => {
  const shop = await sold(simulateEsimaccess({ perSecond: 1_000 }), 2);
  const { support, at, store } = shop;
  const form = await support.get(`${at}/refund`);
  expect(form.text).toContain("Once that is done its price goes back to the partner");
  const before = await shop.balance();
  const done = await support.send(form, {}, "/refund");
  expect([done.path, done.text]).toEqual([at, expect.stringContaining("It is refunded: 9.00 AUD went back.")]);
  expect((await support.send(form, {}, "/refund")).text).toContain("It was done before.");
  expect((await support.get(at)).text).not.toMatch(/(Refund|Replace) at the supplier/);
  for (const kind of ["refund", "replace"]) {
    const late = await support.get(`${at}/${kind}`);
    expect(late.text).toMatch(/It was refunded already, at \d+ \w+ \d{4}/);
    expect(late.page.querySelector("main form")).toBeNull();
  }
  expect(await shop.balance()).toBe(before + PRICE_CENTS);
  const { id } = await shop.row(shop.iccids[0] ?? "");
  const trail = await store.read(listAudit, { target: id, limit: 9 });
  expect(trail.map(({ action, actor, request_id }) => [action, actor, request_id !== null])).toContainEqual([
    "esims.refund",
    `user:${support.id}`,
    true,
  ]);

  const [order] = await store.read(async (q) => q.db.select().from(q.t.orders), null);
  if (order === undefined) throw new Error("no order");
  const part = { line: 1, units: 1, amount: null, reason: "goodwill", actor: "test" };
  await store.write(refundOrder, { id: order.id, ...part });
  const other = `/console/esims/${shop.iccids[1]}`;
  const asked = await support.get(`${other}/refund`);
  expect(asked.text).not.toContain("Was that for this eSIM?");
  expect((await support.send(asked, {}, "/refund")).text).toContain("It is refunded: 0.00 AUD went back.");
});

test("what people at the supplier decide, or no supplier can do, moves nothing and says so", async () => {
  const shop = await sold(simulateAiralo());
  const { support, at } = shop;
  const before = await shop.balance();
  const requested = await support.send(await support.get(`${at}/refund`), {}, "/refund");
  expect(requested.text).toMatch(/It is requested: people decide\..*Airalo has the request as/);
  expect((await support.get(at)).text).toContain("Refund granted");
  const granted = await support.get(`${at}/refund-granted`);
  const denied = await support.send(await support.get(`${at}/refund-denied`), {}, "/refund-denied");
  expect(denied.text).toContain("The request is closed.");
  const late = [await support.get(`${at}/refund-denied`), await support.send(granted, {}, "/refund-granted")];
  for (const { status, text } of late) {
    expect([status, text]).toEqual([409, expect.stringContaining("The refund of this eSIM was denied already, at ")]);
  }
  const replaced = await support.send(await support.get(`${at}/replace`), {}, "/replace");
  expect(replaced.text).toContain("It is not available.");
  expect(await shop.balance()).toBe(before);

  const iccid = "8944590004463637008";
  await deliverEsim(shop, shop.buyer, { sku: "EU5", product: await shop.addStocked(), iccid });
  const stocked = await support.send(await support.get(`/console/esims/${iccid}/refund`), {}, "/refund");
  expect(stocked.text).toContain("The partner is repaid by orders refund.");
  const viewer = await person(shop, { role: "viewer" });
  expect((await viewer.get(at)).text).not.toContain("Refund at the supplier");
  expect((await viewer.get(`${at}/refund`)).status).toBe(403);
  shop.clock.advance(11 * 60_000);
  const again = await support.send(await support.get(`${at}/replace`), {}, "/replace");
  expect(again.text).toContain("Confirm that it is you");
});
