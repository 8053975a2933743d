import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { beginReturn, endReturn } from "../src/core/after-sale/give-back.ts";
import { listAudit } from "../src/core/audit/list.ts";
import type { EsimId } from "../src/core/kernel/brand.ts";
import { refundOrder } from "../src/core/orders/refund.ts";
import { findByKey } from "../src/core/store/rows.ts";
import type { ReturnKind } from "../src/core/store/schema/values.ts";
import { owedToSuppliers } from "../src/core/supply/costs.ts";
import type { BoughtEsim } from "../src/core/supply/provider.ts";
import { giveBack } from "../src/daemon/gateways/suppliers/give-back.ts";
import { simulateAiralo } from "../src/daemon/simulators/airalo.ts";
import { simulateEsimaccess } from "../src/daemon/simulators/esimaccess.ts";
import { simulateEsimgo } from "../src/daemon/simulators/esimgo.ts";
import type { SimulatedProvider } from "../src/daemon/simulators/provider.ts";
import { deskOf } from "./support/desk.ts";
import { deliverEsim } from "./support/esims.ts";
import { person } from "./support/pages.ts";
import { PRICE_CENTS, startProviderShop } from "./support/providers/shop.ts";
import { property } from "./support/rounds.ts";

const offers = {
  esimaccess: { plan: "CJP101", cost: 7_000 },
  airalo: { plan: "hinode-7days-1gb", cost: 36_000 },
  esimgo: { plan: "esim_1GB_7D_GB_V2", cost: 22_800 },
};

/** A shop with sold eSIMs, what it can ask for, and what moved. */
async function sold(
  double: SimulatedProvider,
  { quantity = 1, ...options }: { quantity?: number; start?: string; pages?: true } = {},
) {
  const shop = await startProviderShop(double, { ...offers[double.name], ...options });
  const { order, iccids } = await shop.buy(quantity);
  const [iccid = ""] = iccids;
  const { store } = shop;
  const { id } = await shop.row(iccid);
  const ask = async (kind: ReturnKind, { of = id, repaid }: { of?: EsimId; repaid?: boolean } = {}) =>
    (await giveBack(shop, { id: of, kind, repaid, actor: "test" })).answer;
  const refundOfOrder = async (amount: { units?: number; amount?: string }) => {
    const [row] = await store.read(async (q) => q.db.select().from(q.t.orders), null);
    if (row === undefined) throw new Error("no order");
    const asked = { id: row.id, line: 1, units: null, amount: null, ...amount, reason: "goodwill", actor: "test" };
    return store.write(refundOrder, asked);
  };
  const balance = async () => (await (await shop.current()).get("/api/v1/balance")).body.balances[0].balance_cents;
  const returns = () => store.read(async (q) => q.db.select().from(q.t.esimReturns), null);
  const owing = async () => (await store.read(owedToSuppliers, { from: 0, until: Number.MAX_SAFE_INTEGER }))[0];
  const owed = async () => (await owing())?.cost;
  return { ...shop, order, iccid, iccids, id, ask, balance, returns, owing, owed, refundOfOrder };
}

const esimaccess = (options = {}) => sold(simulateEsimaccess({ perSecond: 1_000 }), options);

describe("a refund", () => {
  test("that is done repays the unit's price, posts the cost back and ends the eSIM, once", async () => {
    const shop = await esimaccess({ quantity: 3, start: new Date().toISOString() });
    const { iccid } = shop;
    const desk = deskOf(shop);
    const before = { balance: await shop.balance(), provider: await shop.provider.counts(), owed: await shop.owed() };
    expect(before.owed).toBe("2.1000");
    expect((await desk.run(`esims refund ${iccid} --json`)).exitCode).toBe(2);
    const answer = { iccid, outcome: "done", amount_cents: PRICE_CENTS, currency: "AUD", detail: expect.any(String) };
    expect(await desk.json(`esims refund ${iccid} --yes`)).toEqual(answer);
    expect(await desk.json(`esims refund ${iccid} --yes`)).toEqual(answer);
    expect(await shop.balance()).toBe(before.balance + PRICE_CENTS);
    expect(await shop.owing()).toMatchObject({ units: 2, cost: "1.4000" });
    const after = await shop.provider.counts();
    expect(after.bought).toBe(2);
    expect(after.by.cancel - before.provider.by.cancel).toBe(1);
    expect(await shop.row(iccid)).toMatchObject({ status: "expired", look_at: null });
    expect(await shop.events()).toMatchObject([
      { kind: "order.refunded", data: { amount_cents: PRICE_CENTS, reason: `eSIM ${iccid} was given back` } },
      { kind: "esim.expired", data: { iccid, status: "expired" } },
    ]);
    expect(await shop.returns()).toMatchObject([{ kind: "refund", outcome: "done", amount_cents: PRICE_CENTS }]);
    const trail = await shop.store.read(listAudit, { target: shop.id, limit: 10 });
    const notes = trail.filter(({ action }) => action === "esims.refund").map(({ note }) => note);
    expect(notes).toEqual(["done", "asked of skyline"]);
  });

  test("that was done before says so to people, and when; nothing moves", async () => {
    const shop = await esimaccess({ start: new Date().toISOString() });
    const desk = deskOf(shop);
    const first = await desk.run(`esims refund ${shop.iccid} --yes`);
    expect(first.stdout).toMatch(/outcome +done\nrepaid +9.00 AUD/);
    expect(first.stdout).not.toContain("nothing moved");
    const at = await shop.store.read(listAudit, { target: shop.id, limit: 1 });
    const balance = await shop.balance();
    shop.clock.advance(86_400_000);
    const { exitCode, stdout } = await desk.run(`esims refund ${shop.iccid} --yes`);
    expect(exitCode).toBe(0);
    expect(stdout).toContain(`done before, at ${at[0]?.at.slice(0, 19).replace("T", " ")}Z`);
    expect(stdout).toContain("This time the supplier was not asked, and nothing moved.");
    expect(await shop.balance()).toBe(balance);
  });

  test("that is not available moves nothing, and is asked for again", async () => {
    const shop = await esimaccess({ start: new Date().toISOString() });
    const { iccid } = shop;
    const before = await shop.balance();
    await shop.provider.phone({ iccid, state: "in_use" });
    for (let times = 0; times < 2; times++) {
      const { exitCode, stdout } = await deskOf(shop).run(`esims refund ${iccid} --yes --json`);
      expect(exitCode).toBe(1);
      expect(JSON.parse(stdout)).toMatchObject({ iccid, outcome: "not_available", amount_cents: 0, currency: "AUD" });
    }
    expect((await shop.provider.counts()).by.cancel).toBe(2);
    expect([await shop.balance(), await shop.owed()]).toEqual([before, "0.7000"]);
    expect((await shop.row(iccid)).status).toBe("inactive");
  });

  test("whose answer was lost is not done twice, and not taken for refused", async () => {
    const shop = await esimaccess();
    const before = await shop.balance();
    await shop.provider.steer({ on: "cancel", outcome: "lost" });
    await expect(shop.ask("refund")).rejects.toThrow(/not known yet/);
    expect(await shop.returns()).toMatchObject([{ outcome: "asked", amount_cents: 0 }]);
    expect([await shop.balance(), (await shop.row(shop.iccid)).status]).toEqual([before, "inactive"]);
    expect(await shop.ask("refund")).toMatchObject({ outcome: "done", amount_cents: PRICE_CENTS });
    expect(await shop.ask("refund")).toMatchObject({ outcome: "done", amount_cents: PRICE_CENTS });
    expect([await shop.balance(), await shop.owed()]).toEqual([before + PRICE_CENTS, "0.0000"]);
  });

  test("of a process that died after the supplier's answer is found done by the next one", async () => {
    const shop = await esimaccess();
    const before = await shop.balance();
    const begun = await shop.store.write(beginReturn, { id: shop.id, kind: "refund", actor: "test" });
    if ("answer" in begun) throw new Error("it was not asked for before");
    const api = await shop.api();
    expect(await api.refund(begun.ref)).toMatchObject({ outcome: "done" });
    expect(await shop.ask("refund")).toMatchObject({ outcome: "done", amount_cents: PRICE_CENTS });
    expect(await shop.balance()).toBe(before + PRICE_CENTS);
    expect(await shop.returns()).toHaveLength(1);
  });

  test("that is asked for twice at the same time repays once", async () => {
    const shop = await esimaccess();
    const before = await shop.balance();
    const answers = await Promise.all([shop.ask("refund"), shop.ask("refund"), shop.ask("refund")]);
    expect(new Set(answers.map(({ outcome, amount_cents }) => `${outcome} ${amount_cents}`))).toEqual(
      new Set([`done ${PRICE_CENTS}`]),
    );
    expect([await shop.balance(), await shop.owed()]).toEqual([before + PRICE_CENTS, "0.0000"]);
    expect(await shop.returns()).toHaveLength(1);
  });

  test("never repays more than is left of the line", async () => {
    const shop = await esimaccess({ quantity: 2 });
    const order = await shop.refundOfOrder({ amount: "14.00" });
    expect(await shop.ask("refund", { repaid: false })).toMatchObject({ outcome: "done", amount_cents: 400 });
    const { id } = await shop.row(shop.iccids[1] ?? "");
    expect(await shop.ask("refund", { of: id })).toMatchObject({ outcome: "done", amount_cents: 0 });
    expect(await shop.store.read((q) => findByKey(q, "orders", { id: order.id }), null)).toMatchObject({
      refunded_cents: 2 * PRICE_CENTS,
    });
    expect(await shop.owed()).toBe("0.0000");
  });

  test("asks whether the order's refund of before was for this eSIM, and repays it once", async () => {
    const shop = await esimaccess({ quantity: 3, start: new Date().toISOString() });
    const desk = deskOf(shop);
    const [first = "", second = "", third = ""] = shop.iccids;
    await shop.refundOfOrder({ units: 1 });
    const before = await shop.balance();
    const refused = await desk.refusal(`esims refund ${first} --yes`);
    expect(refused.message).toMatch(/--repaid <yes\|no> is needed: 9\.00 AUD of line 1 of ORD-\S+ went back before/);
    expect((await shop.provider.counts()).by.cancel).toBe(0);
    const json = (typed: string) => desk.json(`esims refund ${typed} --yes`);
    expect(await json(`${second} --repaid no`)).toMatchObject({ outcome: "done", amount_cents: PRICE_CENTS });
    expect((await desk.refusal(`esims refund ${first} --yes`)).message).toContain("is needed: 9.00 AUD");
    expect(await json(`${first} --repaid yes`)).toMatchObject({ outcome: "done", amount_cents: 0 });
    // Nothing of what went back is unclear any more.
    expect(await json(third)).toMatchObject({ outcome: "done", amount_cents: PRICE_CENTS });
    expect(await shop.balance()).toBe(before + 2 * PRICE_CENTS);
    expect(await shop.owed()).toBe("0.0000");
  });

  property("repays each unit once, whichever of them the order's refunds were for", { few: 3, many: 20 }, (runs) =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom("order", "supplier", "both", "none"), { minLength: 2, maxLength: 5 }),
        fc.infiniteStream(fc.nat()),
        async (units, order) => {
          const shop = await esimaccess({ quantity: units.length });
          const before = await shop.balance();
          const repaidByOrder = units.filter((one) => one === "order" || one === "both").length;
          for (let times = 0; times < repaidByOrder; times++) await shop.refundOfOrder({ units: 1 });
          const acts = units
            .flatMap((how, at) => (how === "supplier" || how === "both" ? [{ how, at, rank: order.next().value }] : []))
            .sort((one, other) => one.rank - other.rank);
          for (const { how, at } of acts) {
            const { id } = await shop.row(shop.iccids[at] ?? "");
            // The provider's requests of a second are few.
            shop.clock.advance(1_000);
            const { amount_cents } = await shop.ask("refund", { of: id, repaid: how === "both" });
            expect(amount_cents).toBe(how === "both" ? 0 : PRICE_CENTS);
          }
          const touched = units.filter((one) => one !== "none").length;
          expect(await shop.balance()).toBe(before + touched * PRICE_CENTS);
        },
      ),
      { numRuns: runs },
    ),
  );

  test("at Airalo is a request that people decide: it moves nothing, and is made once", async () => {
    const shop = await sold(simulateAiralo(), { start: new Date().toISOString() });
    const before = await shop.balance();
    const answer = { iccid: shop.iccid, outcome: "requested", amount_cents: 0, currency: "AUD" };
    for (let times = 0; times < 2; times++) {
      expect(await deskOf(shop).json(`esims refund ${shop.iccid} --yes`)).toMatchObject(answer);
    }
    expect((await deskOf(shop).run(`esims refund ${shop.iccid} --yes`)).stdout).toMatch(/requested before, at 20/);
    expect((await shop.provider.counts()).by.cancel).toBe(1);
    expect([await shop.balance(), (await shop.row(shop.iccid)).status]).toEqual([before, "inactive"]);
    expect(await shop.returns()).toMatchObject([{ outcome: "requested", reference: expect.any(String) }]);
  });

  test("at Airalo is settled by what its people decided: denied and asked for again, then granted, once", async () => {
    const shop = await sold(simulateAiralo(), { start: new Date().toISOString() });
    const desk = deskOf(shop);
    const before = { balance: await shop.balance(), owed: await shop.owed() };
    const settle = (how: string) => desk.json(`esims refund ${shop.iccid} --${how} --yes`);
    expect((await desk.refusal(`esims refund ${shop.iccid} --granted --yes`)).message).toContain("no open request");
    expect(await desk.json("status")).toMatchObject({ open_refunds: [] });
    await shop.ask("refund");
    const [asked] = await shop.returns();
    const open = { id: shop.id, iccid: shop.iccid, partner: "partner-1", supplier: "skyline" };
    const status = await desk.json("status");
    expect(status.open_refunds).toEqual([{ ...open, reference: asked?.reference, since: expect.any(String) }]);
    expect(status.queues).toContainEqual(
      expect.objectContaining({ queue: "refunds_requested", waits_for: "supplier", waiting: 1 }),
    );
    expect((await desk.run("status")).stdout).toMatch(/esims refund ICCID --granted/);

    const denied = { iccid: shop.iccid, outcome: "not_available", amount_cents: 0, currency: "AUD" };
    expect(await settle("denied")).toMatchObject(denied);
    expect([await shop.balance(), (await shop.row(shop.iccid)).status]).toEqual([before.balance, "inactive"]);
    expect((await desk.json("status")).open_refunds).toEqual([]);
    expect(await shop.ask("refund")).toMatchObject({ outcome: "requested" });
    expect(await settle("granted")).toMatchObject({ outcome: "done", amount_cents: PRICE_CENTS, currency: "AUD" });
    expect([await shop.balance(), await shop.owed()]).toEqual([before.balance + PRICE_CENTS, "0.0000"]);
    expect((await shop.row(shop.iccid)).status).toBe("expired");
    expect(await shop.ask("refund")).toMatchObject({ outcome: "done" });
    expect((await desk.refusal(`esims refund ${shop.iccid} --granted --yes`)).message).toContain("refunded before");
    expect(await shop.balance()).toBe(before.balance + PRICE_CENTS);
    const returns = (await shop.returns()).map(({ outcome, reference }) => [outcome, reference !== null]);
    expect(returns.sort()).toEqual([
      ["done", true],
      ["not_available", true],
    ]);
  });

  test("that is requested is settled in the console, with its consequence before", async () => {
    const shop = await sold(simulateAiralo(), { pages: true });
    const before = await shop.balance();
    const support = await person(shop, { role: "support" });
    const at = `/console/esims/${shop.iccid}`;
    expect((await support.get(at)).text).not.toContain("Refund granted");
    await shop.ask("refund");
    expect((await support.get("/console")).text).toContain("Refunds requested of suppliers");
    expect((await support.get(at)).text).toContain("Refund granted");
    const shown = await support.get(`${at}/refund-granted`);
    expect(shown.text).toContain("9.00 AUD go back to partner-1, and the eSIM expires.");
    expect(await shop.balance()).toBe(before);
    const done = await support.send(shown, {}, "/refund-granted");
    expect([done.path, done.text]).toEqual([at, expect.stringContaining("It is refunded.")]);
    expect(await shop.balance()).toBe(before + PRICE_CENTS);
    expect((await support.get(`${at}/refund-denied`)).status).toBe(409);
    const viewer = await person(shop, { role: "viewer" });
    expect((await viewer.get(`${at}/refund-granted`)).status).toBe(403);
    const trail = await shop.store.read(listAudit, { target: shop.id, limit: 5 });
    expect(trail.map(({ action, actor, note }) => [action, actor, note])).toContainEqual([
      "esims.refund",
      `user:${support.id}`,
      "done",
    ]);
  });

  test("that is granted in the console asks there whether it was repaid before", async () => {
    const shop = await sold(simulateAiralo(), { pages: true, quantity: 2 });
    const support = await person(shop, { role: "support" });
    await shop.ask("refund");
    await shop.refundOfOrder({ units: 1 });
    const before = await shop.balance();
    const at = `/console/esims/${shop.iccid}/refund-granted`;
    const form = await support.get(at);
    expect(form.text).toContain("9.00 AUD of line 1 of");
    expect((await support.send(form, {}, "/refund-granted")).status).toBe(400);
    const shown = await support.send(form, { repaid: "yes" }, "/refund-granted");
    expect(shown.text).toContain("0.00 AUD go back to partner-1, and the eSIM expires.");
    expect((await support.send(shown, {}, "/refund-granted")).text).toContain("It is refunded.");
    expect([await shop.balance(), await shop.owed()]).toEqual([before, "3.6000"]);
  });

  test("at eSIM Go is not available unless refunds are on there", async () => {
    const off = await sold(simulateEsimgo());
    expect(await off.ask("refund")).toMatchObject({ outcome: "not_available", amount_cents: 0 });
    const on = await sold(simulateEsimgo({ refunds: true }));
    const before = await on.balance();
    expect(await on.ask("refund")).toMatchObject({ outcome: "done", amount_cents: PRICE_CENTS });
    expect([await on.balance(), await on.owed()]).toEqual([before + PRICE_CENTS, "0.0000"]);
  });

  test("of an eSIM from stock is not available, and says how to repay it", async () => {
    const shop = await esimaccess();
    const iccid = "8944590004463637008";
    await deliverEsim(shop, shop.buyer, { sku: "EU5", product: await shop.addStocked(), iccid });
    const { id } = await shop.row(iccid);
    const answer = await shop.ask("refund", { of: id });
    expect(answer).toMatchObject({ outcome: "not_available", detail: expect.stringContaining("orders refund") });
    expect(await shop.returns()).toEqual([]);
  });
});

const other: BoughtEsim = {
  iccid: "8944590004463637024",
  activationCode: "LPA:1$smdp.example.net$NEW-1",
  confirmationCode: null,
  reference: "26000000000099",
};

describe("another eSIM in the place of a faulty one", () => {
  test("is not to be had by the API of any provider", async () => {
    for (const double of [simulateEsimaccess({ perSecond: 1_000 }), simulateAiralo(), simulateEsimgo()]) {
      const shop = await sold(double);
      expect(await shop.ask("replace")).toMatchObject({ iccid: shop.iccid, outcome: "not_available", amount_cents: 0 });
    }
  });

  test("takes the place in the order, under the same links, and is looked up", async () => {
    const shop = await esimaccess();
    const begun = await shop.store.write(beginReturn, { id: shop.id, kind: "replace", actor: "test" });
    if ("answer" in begun) throw new Error("it was not asked for before");
    const before = await (await shop.current()).get(`/api/v1/orders/${shop.order}/esims`);
    const end = (replacement: BoughtEsim | null) => {
      const returned = { outcome: "done", detail: "Replaced.", reference: "R-1", replacement } as const;
      return shop.store.write(endReturn, { returnId: begun.returnId, returned, actor: "test" });
    };
    // What cannot be used leaves it open.
    await expect(end(null)).rejects.toThrow(/not known yet/);
    await expect(end({ ...other, activationCode: "nonsense" })).rejects.toThrow(/not known yet/);
    expect(await end(other)).toMatchObject({ iccid: other.iccid, outcome: "done", amount_cents: 0 });
    expect(await end(other)).toMatchObject({ iccid: other.iccid, outcome: "done" });
    const { body } = await (await shop.current()).get(`/api/v1/orders/${shop.order}/esims`);
    expect(body.esims).toMatchObject([
      { iccid: other.iccid, activation_code: other.activationCode, qr_code_url: before.body.esims[0].qr_code_url },
    ]);
    expect(await shop.row(other.iccid)).toMatchObject({
      ...{ id: shop.id, supplier_ref: other.reference, status: "inactive", install_state: null },
      look_at: shop.clock.now() + 600_000,
    });
    expect(await shop.ask("replace")).toMatchObject({ outcome: "done", detail: "Replaced." });
  });
});
