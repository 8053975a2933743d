import { expect, test } from "vitest";
import { addSuppliedEsims } from "../src/core/esims/supplied.ts";
import { updateRow } from "../src/core/store/rows.ts";
import type { Tx } from "../src/core/store/store.ts";
import { openCircuit } from "../src/core/supply/circuit.ts";
import { applyLooks, claimLooks, noticeEsims } from "../src/core/supply/looks.ts";
import type { EsimReportOf } from "../src/core/supply/provider.ts";
import { simulateAiralo } from "../src/daemon/simulators/airalo.ts";
import { simulateEsimaccess } from "../src/daemon/simulators/esimaccess.ts";
import { expireEsims } from "../src/daemon/workers/cron.ts";
import { deliverEsim } from "./support/esims.ts";
import { SUPPLIER, startProviderShop } from "./support/providers/shop.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const esimaccess = () => startProviderShop(simulateEsimaccess({ perSecond: 1_000 }), { plan: "CJP101", cost: 7_000 });

/** A shop of eSIM Access with one eSIM that was just sold, and the moment it was. */
async function withSold() {
  const shop = await esimaccess();
  const { iccids } = await shop.buy();
  const [iccid = ""] = iccids;
  return { ...shop, iccid, sold: shop.clock.now() };
}

test("a sold eSIM is looked up, and what its supplier shows is taken with the events that follow", async () => {
  const shop = await withSold();
  const { iccid, clock } = shop;
  expect(await shop.row(iccid)).toMatchObject({ supplier: SUPPLIER, look_at: clock.now() + 10 * MINUTE });
  expect(await shop.look()).toBe(0);
  clock.advance(10 * MINUTE);
  expect(await shop.look()).toBe(1);
  expect(await shop.row(iccid)).toMatchObject({ install_state: "not_downloaded", status: "inactive" });
  expect((await shop.row(iccid)).look_at).toBe(clock.now() + 6 * HOUR);

  await shop.provider.phone({ iccid, state: "in_use", used_mb: 600 });
  const used = clock.now();
  clock.advance(6 * HOUR);
  expect(await shop.look()).toBe(1);
  const row = await shop.row(iccid);
  expect(row).toMatchObject({ install_state: "enabled", status: "active", used_mb: 600, total_mb: 1024 });
  // As the supplier has both, not when it was looked up.
  expect(row).toMatchObject({ activated_at: used, expires_at: used + 7 * DAY, look_at: clock.now() + 30 * MINUTE });
  expect(await shop.events()).toMatchObject([
    { kind: "esim.activated", data: { iccid, status: "active" } },
    { kind: "esim.data_low", data: { iccid, threshold_percent: 50 } },
  ]);

  await shop.provider.phone({ iccid, state: "used_up" });
  clock.advance(30 * MINUTE);
  await shop.look();
  expect(await shop.status(iccid)).toMatchObject({ status: "active", data_usage: { used_mb: 1024, remaining_mb: 0 } });
  expect((await shop.row(iccid)).look_at).toBe(clock.now() + 6 * HOUR);

  clock.advance(7 * DAY);
  await expireEsims({ store: shop.store }, new AbortController().signal);
  await shop.look();
  expect(await shop.row(iccid)).toMatchObject({ status: "expired", look_at: null });
  const kinds = (await shop.events()).map(({ kind }) => kind);
  expect(kinds).toEqual(["esim.activated", "esim.data_low", "esim.data_low", "esim.expired"]);
});

test("an unused eSIM is looked up every six hours, after 30 days daily, after 180 days no more", async () => {
  const shop = await withSold();
  const after: [age: number, next: number | null][] = [
    [1 * DAY, 6 * HOUR],
    [29 * DAY, 6 * HOUR],
    [31 * DAY, DAY],
    [179 * DAY, DAY],
  ];
  for (const [age, next] of after) {
    shop.clock.set(new Date(shop.sold + age).toISOString());
    expect(await shop.look()).toBe(1);
    expect((await shop.row(shop.iccid)).look_at).toBe(next === null ? null : shop.clock.now() + next);
  }
});

test("an eSIM that lapsed unused expires with its event, and is looked up no more", async () => {
  const shop = await withSold();
  shop.clock.advance(181 * DAY);
  await shop.look();
  expect(await shop.row(shop.iccid)).toMatchObject({ status: "expired", activated_at: null, look_at: null });
  expect(await shop.events()).toMatchObject([
    { kind: "esim.expired", data: { iccid: shop.iccid, status: "expired", data_usage: { used_mb: 0 } } },
  ]);
});

test("a supplier suspends and resumes, and is not overruled by an older word", async () => {
  const shop = await withSold();
  const { iccid, clock } = shop;
  const seen = async (state: "in_use" | "suspended") => {
    await shop.provider.phone({ iccid, state });
    clock.advance(6 * HOUR);
    await shop.look();
    return (await shop.row(iccid)).status;
  };
  expect(await seen("in_use")).toBe("active");
  expect(await seen("suspended")).toBe("suspended");
  expect(await seen("in_use")).toBe("active");
  expect((await shop.events()).map(({ kind }) => kind)).toEqual(["esim.activated"]);

  // A look that was under way while a notice came is dropped: another one follows.
  clock.advance(HOUR);
  const claim = await shop.store.write(claimLooks, { supplier: SUPPLIER, limit: 10 });
  const { supplier_ref: reference } = await shop.row(iccid);
  if (claim === null) throw new Error("nothing was due");
  clock.advance(1_000);
  await shop.store.write(noticeEsims, { supplier: SUPPLIER, esims: [{ iccid: "", reference }] });
  const report = { ...nothing(iccid, reference), status: "suspended", at: clock.now() } as const;
  await shop.store.write(applyLooks, { claim, reports: [report] });
  expect(await shop.row(iccid)).toMatchObject({ status: "active", look_at: clock.now() });
  expect(await shop.look()).toBe(1);
  expect(await shop.row(iccid)).toMatchObject({ status: "active", look_at: clock.now() + 30 * MINUTE });

  // What is older than the last word about its status changes nothing.
  clock.advance(HOUR);
  const late = await shop.store.write(claimLooks, { supplier: SUPPLIER, limit: 10 });
  if (late === null) throw new Error("nothing was due");
  await shop.store.write(applyLooks, { claim: late, reports: [{ ...report, at: shop.sold }] });
  expect((await shop.row(iccid)).status).toBe("active");
});

/** What a supplier that shows nothing of an eSIM shows. */
function nothing(iccid: string, reference: string | null): EsimReportOf {
  const unseen = { install: null, usedMb: null, totalMb: null, activatedAt: null, expiresAt: null };
  return { iccid, reference, status: "unknown", ...unseen, country: null, network: null, at: 0 };
}

test("a top-up at the supplier moves the end of validity, and notices of it begin again", async () => {
  const shop = await withSold();
  const { iccid, clock } = shop;
  await shop.provider.phone({ iccid, state: "in_use" });
  clock.advance(HOUR);
  await shop.look();
  const { id, expires_at, supplier_ref } = await shop.row(iccid);
  await shop.store.write((tx: Tx, _: null) => updateRow(tx, "esims", { id }, { expiry_notice: 1 }), null);
  await fetch(`${shop.provider.url}/esim/topup`, {
    method: "POST",
    headers: { "rt-accesscode": "DEMOACCESS" },
    body: JSON.stringify({ esimTranNo: supplier_ref, packageCode: "TOPUP_CJP101", transactionId: "top-1" }),
  });
  clock.advance(HOUR);
  await shop.look();
  expect(await shop.row(iccid)).toMatchObject({ expires_at: (expires_at ?? 0) + 7 * DAY, expiry_notice: null });
  expect(await shop.row(iccid)).toMatchObject({ total_mb: 2048 });
});

test("a supplier without a usable answer, or whose circuit is open, is left alone", async () => {
  const shop = await withSold();
  const { clock, store, iccid } = shop;
  clock.advance(10 * MINUTE);
  await store.write(openCircuit, { supplier: SUPPLIER, reason: "it is down", forMs: HOUR });
  expect(await shop.look()).toBe(0);
  // Its balance is for purchases alone.
  await store.write(openCircuit, { supplier: SUPPLIER, reason: "its balance is low", forMs: null });
  expect(await shop.look()).toBe(1);
  expect((await shop.row(iccid)).install_state).toBe("not_downloaded");
  clock.advance(6 * HOUR);
  await shop.provider.close();
  expect(await shop.look()).toBe(1);
  expect((await shop.row(iccid)).look_at).toBe(clock.now() + 5 * MINUTE);
  await shop.notice(iccid);
  // It is due again, but its supplier has its rest.
  expect(await shop.look()).toBe(0);
  clock.advance(5 * MINUTE);
  expect(await shop.look()).toBe(1);
});

test("a look of a worker that died is made by another one when its time is over", async () => {
  const shop = await withSold();
  shop.clock.advance(10 * MINUTE);
  expect(await shop.store.write(claimLooks, { supplier: SUPPLIER, limit: 10 })).not.toBeNull();
  expect(await shop.look()).toBe(0);
  shop.clock.advance(10 * MINUTE);
  expect(await shop.look()).toBe(1);
});

test("Airalo shows use and end, and no installation", async () => {
  const shop = await startProviderShop(simulateAiralo(), { plan: "hinode-7days-1gb", cost: 36_000 });
  const { iccids } = await shop.buy(2);
  const [iccid = "", other = ""] = iccids;
  await shop.provider.phone({ iccid, state: "in_use", used_mb: 900 });
  shop.clock.advance(HOUR);
  expect(await shop.look()).toBe(1);
  expect(await shop.row(iccid)).toMatchObject({ install_state: null, status: "active", used_mb: 900, total_mb: 1024 });
  expect(await shop.row(other)).toMatchObject({ install_state: null, status: "inactive" });
  await shop.provider.phone({ iccid, state: "expired" });
  shop.clock.advance(HOUR);
  await shop.look();
  expect(await shop.row(iccid)).toMatchObject({ status: "expired", look_at: null });
});

test("an eSIM from stock is never looked up", async () => {
  const shop = await esimaccess();
  const iccid = "8944590004463637008";
  await deliverEsim(shop, shop.buyer, { sku: "EU5", product: await shop.addStocked(), iccid });
  expect(await shop.row(iccid)).toMatchObject({ supplier: null, look_at: null });
});

test("an ICCID that the supplier uses again names the new eSIM; the ended one stays its buyer's", async () => {
  const shop = await withSold();
  const { iccid, store } = shop;
  const { order_id, line_id, product_id, partner_id, supplier_ref } = await shop.row(iccid);
  if (order_id === null || line_id === null || partner_id === null) throw new Error("it was sold");
  const esim = { iccid, smdp_address: "smdp.example.net", matching_id: "AGAIN", confirmation_code: null };
  const again = (reference: string | null, supplier = SUPPLIER) => {
    const sale = { orderId: order_id, lineId: line_id, productId: product_id, partnerId: partner_id };
    const esims = [{ ...esim, reference }];
    return store.write(addSuppliedEsims, { ...sale, supplier, eid: null, lookAt: null, esims });
  };
  await expect(again("another")).rejects.toThrow("belongs to another eSIM");
  await shop.provider.phone({ iccid, state: "expired" });
  shop.clock.advance(HOUR);
  await shop.look();
  expect((await shop.row(iccid)).status).toBe("expired");
  // From another supplier, without a name, or under the same one it is no new eSIM.
  await expect(again("another", "kestrel")).rejects.toThrow("belongs to another eSIM");
  await expect(again(null)).rejects.toThrow("belongs to another eSIM");
  await expect(again(supplier_ref)).rejects.toThrow("belongs to another eSIM");
  await again("another");
  expect(await shop.status(iccid)).toMatchObject({ iccid, status: "inactive" });
  const both = (await store.read(async (q) => q.db.select().from(q.t.esims), null)).filter(
    (row) => row.iccid === iccid,
  );
  expect(both.map(({ status, retired_at }) => [status, retired_at !== null]).sort()).toEqual([
    ["expired", true],
    ["inactive", false],
  ]);
  const list = await (await shop.current()).get("/api/v1/esims");
  expect(list.body.data.map(({ status }: { status: string }) => status).sort()).toEqual(["expired", "inactive"]);
});
