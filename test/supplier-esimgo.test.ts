import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { Problem } from "../src/core/kernel/problem.ts";
import { BRITAIN, openEsimgoAdapter } from "./support/providers/esimgo-adapter.ts";

const JAPAN = "esim_10GB_30D_JP_V2";
const DAY = 86_400_000;
type Opened = Awaited<ReturnType<typeof openEsimgoAdapter>>;

/** An eSIM that was sold. */
async function sold(go: Opened, plan = BRITAIN) {
  const step = await go.purchase(plan, { cost: null }).end();
  if (step.kind !== "bought") throw new Error(step.kind);
  return { iccid: step.esim.iccid, reference: step.esim.reference };
}

async function problemOf(promise: Promise<unknown>) {
  const error = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return error instanceof Problem ? error.slug : error;
}

describe("a top-up", () => {
  test("puts another bundle on the eSIM, and holds its plan before", async () => {
    const go = await openEsimgoAdapter();
    const esim = await sold(go);
    const topup = go.purchase(BRITAIN, { esim });
    expect(await topup.run()).toEqual({ kind: "applied", reference: expect.any(String), cost: 14_000 });
    expect(topup.notes).toEqual([null, "topup"].map((stage) => ({ stage, hold: BRITAIN })));
    expect(topup.memory()).toMatchObject({ stage: "topup", assignments: 1 });
    const [bundle] = (await go.call("GET", `/esims/${esim.iccid}/bundles`)).bundles;
    expect(bundle.assignments).toHaveLength(2);
    expect(go.double.state().bought).toBe(2);
  });

  test("asks first what fits: bundles of the catalog do, where they are compatible", async () => {
    const go = await openEsimgoAdapter();
    const esim = await sold(go);
    expect(await go.provider.topupPlans(esim)).toBeNull();
    expect(await go.provider.fits(esim, "esim_1GB_7D_FR_V2")).toBe(true);
    expect(await go.provider.fits(esim, JAPAN)).toBe(false);
    expect(await go.provider.fits({ iccid: "8944538500000000000", reference: null }, BRITAIN)).toBe(false);
    expect(await problemOf(go.adapter("http://127.0.0.1:1").fits(esim, BRITAIN))).toBe("supplier_unreachable");
  });

  test("that does not fit is refused, and goes on no other eSIM", async () => {
    const go = await openEsimgoAdapter();
    const esim = await sold(go);
    for (const cost of [1_190, null]) {
      const step = await go.purchase(JAPAN, { esim, cost }).run();
      expect(step).toMatchObject({ kind: "refused", code: "400", because: "plan" });
    }
    await go.steer({ on: "topup", outcome: "refuse" });
    expect(await go.purchase(BRITAIN, { esim }).run()).toMatchObject({ kind: "refused", because: "plan" });
    expect(go.double.state().bought).toBe(1);
  });

  test.each(["lost", "wait"] as const)("is found on the eSIM when it was made (%s)", async (outcome) => {
    const go = await openEsimgoAdapter();
    const esim = await sold(go);
    await go.steer({ on: "topup", outcome, delay_ms: 20_000 });
    const topup = go.purchase(BRITAIN, { esim });
    expect(await topup.run()).toMatchObject({ kind: "unknown" });
    expect(await topup.end()).toEqual({ kind: "applied", reference: expect.any(String), cost: null });
    expect(go.double.state().bought).toBe(2);
  });

  test("is never made a second time", async () => {
    const go = await openEsimgoAdapter();
    const esim = await sold(go);
    for (const crash of ["busy", "note"] as const) {
      if (crash === "busy") await go.steer({ on: "topup", outcome: "busy" });
      const topup = go.purchase(BRITAIN, { esim });
      await topup.run(crash === "note" ? { crash: "topup" } : {});
      expect(await topup.end()).toMatchObject({ kind: "lost" });
      expect(await topup.run()).toMatchObject({ kind: "lost" });
    }
    expect(go.double.state().bought).toBe(1);
  });

  test("whose answer names another eSIM is unknown", async () => {
    const go = await openEsimgoAdapter({
      instead: ({ method, path, body }) => {
        if (method !== "POST" || path !== "/orders" || !body.toString().includes('"assign":true')) return null;
        const order = [{ type: "bundle", item: BRITAIN, iccids: ["8944538500000000000"] }];
        return { status: 200, body: { orderReference: "other", status: "completed", total: 1.4, order } };
      },
    });
    const esim = await sold(go);
    const step = await go.purchase(BRITAIN, { esim }).run();
    expect(step).toMatchObject({ kind: "unknown", reason: "order other names another eSIM" });
  });

  test("waits for the limit, and is not sent where there is no connection", async () => {
    let left = 100;
    const go = await openEsimgoAdapter({
      pace: 1,
      instead: () => {
        left -= 1;
        return left < 0 ? { status: 429, headers: { "retry-after": "1" }, body: { message: "Too many" } } : null;
      },
    });
    const esim = await sold(go);
    go.clock.advance(1_000);
    for (const tokens of [0, 1, 2]) {
      left = tokens;
      const topup = go.purchase(BRITAIN, { esim });
      expect(await topup.run()).toMatchObject({ kind: "busy" });
      left = 100;
      go.clock.advance(1_000);
      expect(await topup.end()).toMatchObject({ kind: "applied", cost: 14_000 });
      go.clock.advance(1_000);
    }
    const url = "http://127.0.0.1:1/v2.5";
    expect(await go.purchase(BRITAIN, { esim }).run({ url, at: "topup" })).toMatchObject({ kind: "unsent" });
    expect(go.double.state().bought).toBe(4);
  });
});

describe("the account", () => {
  test("is checked: key, balance, clock", async () => {
    const go = await openEsimgoAdapter();
    expect(await go.provider.balance()).toEqual({ currency: "USD", balance: 10_000_000 });
    expect(await go.provider.check()).toEqual([
      { name: "credential", ok: true, detail: "It is accepted." },
      { name: "balance", ok: true, detail: "1000.0000 USD" },
      { name: "clock", ok: true, detail: "Both clocks agree." },
    ]);
  });

  test("with a clock that is off, and a debt, fails its check", async () => {
    const headers = { date: "Mon, 02 Mar 2026 09:35:00 GMT" };
    const go = await openEsimgoAdapter({
      instead: () => ({ status: 200, headers, body: { currency: "gbp", balance: "-1.5", apiKey: "k" } }),
    });
    expect(await go.provider.balance()).toEqual({ currency: "GBP", balance: -15_000 });
    const [credential, balance, clock] = await go.provider.check();
    expect([credential?.ok, balance, clock]).toEqual([
      true,
      { name: "balance", ok: false, detail: "-1.5000 GBP" },
      { name: "clock", ok: false, detail: "Its clock is 299 s ahead of this machine's." },
    ]);
  });

  test("of a wrong key, or out of reach, fails its check and never throws", async () => {
    const go = await openEsimgoAdapter({
      secret: "other",
      instead: ({ headers }) => ({ status: 403, body: { message: `key ${headers["x-api-key"]} is wrong` } }),
    });
    const detail = "403, key [redacted] is wrong";
    expect(await go.provider.check()).toEqual([{ name: "credential", ok: false, detail }]);
    expect(await problemOf(go.provider.balance())).toBe("supplier_unreachable");
    const [check] = await go.adapter("http://127.0.0.1:1").check();
    expect(check).toEqual({ name: "credential", ok: false, detail: "no connection (ECONNREFUSED)" });
  });
});

describe("a look at eSIMs", () => {
  const none = { country: null, network: null };

  test("shows what became of them", async () => {
    const go = await openEsimgoAdapter({ processing_ms: 1_000_000 });
    const esim = await sold(go);
    const look = async () => (await go.provider.look([esim]))[0];
    const fresh = { install: "not_downloaded", status: "inactive", usedMb: 0, totalMb: 1_000, activatedAt: null };
    expect(await look()).toEqual({ ...esim, ...fresh, expiresAt: null, at: expect.any(Number), ...none });
    await go.phone({ iccid: esim.iccid, state: "installed" });
    expect(await look()).toMatchObject({ install: "installed", status: "inactive" });
    await go.phone({ iccid: esim.iccid, used_mb: 250.9 });
    const inUse = await look();
    expect(inUse).toMatchObject({ install: "enabled", status: "active", usedMb: 250, totalMb: 1_000 });
    expect((inUse?.expiresAt ?? 0) - (inUse?.activatedAt ?? 0)).toBe(7 * DAY);
    await go.phone({ iccid: esim.iccid, state: "suspended" });
    expect(await look()).toMatchObject({ status: "suspended" });
    await go.phone({ iccid: esim.iccid, state: "used_up" });
    expect(await look()).toMatchObject({ status: "used_up", usedMb: 1_000 });
    await go.purchase(BRITAIN, { esim }).end();
    expect(await look()).toMatchObject({ status: "active", usedMb: 1_000, totalMb: 2_000, expiresAt: null });
    await go.phone({ iccid: esim.iccid, state: "expired" });
    expect(await look()).toMatchObject({ status: "expired" });
    await go.phone({ iccid: esim.iccid, state: "deleted" });
    expect(await look()).toMatchObject({ install: "deleted" });
    await go.call("DELETE", `/esims/${esim.iccid}`);
    expect(await look()).toMatchObject({ status: "expired" });
  });

  test("has no bound where there is none", async () => {
    const go = await openEsimgoAdapter();
    const esim = await sold(go, "esim_UL_1D_TR_V2");
    await go.phone({ iccid: esim.iccid, used_mb: 100 });
    expect(await go.provider.look([esim])).toMatchObject([{ status: "active", usedMb: null, totalMb: null }]);
  });

  test.each([
    ["Downloaded", "downloaded"],
    ["Disabled", "disabled"],
    ["Deleted", "deleted"],
    ["Confirmed", "not_downloaded"],
    ["Unavailable", null],
    ["Error", null],
  ])("reads the profile status %s as %s", async (profileStatus, install) => {
    const body = { iccid: "8944538500000000000", matchingId: "A", smdpAddress: "a.example", profileStatus };
    const bundles = [{ name: "a", assignments: [{ id: 1, bundleState: "Queued", startTime: "0001-01-01T00:00:00Z" }] }];
    const go = await openEsimgoAdapter({
      instead: ({ path }) => ({ status: 200, body: path.endsWith("/bundles") ? { bundles } : body }),
    });
    expect(await go.provider.look([{ iccid: body.iccid, reference: null }])).toMatchObject([
      { install, status: "inactive", activatedAt: null, usedMb: null, totalMb: null },
    ]);
  });

  test("leaves out what is not the account's, and says when there is no answer", async () => {
    const go = await openEsimgoAdapter();
    const esim = await sold(go);
    const unknown = { iccid: "8944538500000000000", reference: null };
    expect(await go.provider.look([unknown, esim])).toMatchObject([esim]);
    expect(await problemOf(go.adapter("http://127.0.0.1:1").look([esim]))).toBe("supplier_unreachable");
    const other = await openEsimgoAdapter({ secret: "other" });
    expect(await problemOf(other.provider.look([esim]))).toBe("supplier_unreachable");
    const foreign = await openEsimgoAdapter({
      instead: ({ path }) => (path.startsWith("/esims") ? { status: 403, body: { message: "not yours" } } : null),
    });
    expect(await foreign.provider.look([esim])).toEqual([]);
  });
});

describe("a refund", () => {
  test("is done only where the provider confirms it", async () => {
    const go = await openEsimgoAdapter({ refunds: true });
    const esim = await sold(go);
    const before = await go.provider.balance();
    const done = await go.provider.refund(esim);
    const detail = expect.stringContaining("refunded to balance");
    expect(done).toEqual({ outcome: "done", detail, reference: esim.reference, replacement: null });
    expect((await go.provider.balance()).balance - before.balance).toBe(14_000);
    expect(go.double.state().bought).toBe(0);
    // A repeat finds it in the history.
    expect(await go.provider.refund(esim)).toMatchObject({ outcome: "done" });
    expect((await go.provider.balance()).balance - before.balance).toBe(14_000);
  });

  test("whose answer is lost is unknown, and done when it is asked for again", async () => {
    const go = await openEsimgoAdapter({ refunds: true });
    const esim = await sold(go);
    await go.steer({ on: "cancel", outcome: "lost" });
    expect(await go.provider.refund(esim)).toMatchObject({ outcome: "unknown" });
    expect(await go.provider.refund(esim)).toMatchObject({ outcome: "done" });
  });

  test("is not available where refunds are off, and takes nothing away", async () => {
    const go = await openEsimgoAdapter();
    const esim = await sold(go);
    expect(await go.provider.refund(esim)).toMatchObject({
      outcome: "not_available",
      detail: expect.stringContaining("no refund applicable"),
    });
    const [bundle] = (await go.call("GET", `/esims/${esim.iccid}/bundles`)).bundles;
    expect(bundle.assignments[0].bundleState).toBe("queued");
  });

  test("is not available once it is started, refused, revoked before, or not to be set apart", async () => {
    const go = await openEsimgoAdapter({ refunds: true });
    const started = await sold(go);
    await go.phone({ iccid: started.iccid, used_mb: 1 });
    expect(await go.provider.refund(started)).toMatchObject({ outcome: "not_available" });
    const refused = await sold(go);
    await go.steer({ on: "cancel", outcome: "refuse" });
    expect(await go.provider.refund(refused)).toMatchObject({ outcome: "not_available" });
    await go.call("DELETE", `/esims/${refused.iccid}/bundles/${BRITAIN}`);
    expect(await go.provider.refund(refused)).toMatchObject({ outcome: "not_available" });
    const two = await sold(go);
    await go.purchase(BRITAIN, { esim: two }).end();
    expect(await go.provider.refund({ ...two, reference: null })).toMatchObject({ outcome: "not_available" });
    expect(await go.provider.refund(two)).toMatchObject({ outcome: "done" });
    expect(await go.provider.look([two])).toMatchObject([{ status: "inactive", totalMb: 1_000 }]);
  });

  test.each(["history", "actions"])("is found among the %s of an eSIM, whatever else is said", async (field) => {
    const body = { next: null, [field]: [{ name: "Bundle refunded to balance", bundle: BRITAIN }] };
    const go = await openEsimgoAdapter({
      instead: ({ path }) => (path.endsWith("/history") ? { status: 200, body } : null),
    });
    const esim = await sold(go);
    await go.call("DELETE", `/esims/${esim.iccid}/bundles/${BRITAIN}`);
    expect(await go.provider.refund(esim)).toMatchObject({ outcome: "done", detail: "Bundle refunded to balance" });
  });

  test("by another eSIM there is none", async () => {
    const go = await openEsimgoAdapter();
    expect(await go.provider.replace(await sold(go))).toMatchObject({ outcome: "not_available" });
  });
});

describe("a notice", () => {
  const signed = (body: string, { key = "demo-api-key", as = "hex" as "hex" | "base64" } = {}) => ({
    headers: { "x-signature-sha256": createHmac("sha256", key).update(body).digest(as) },
    body: Buffer.from(body),
    address: "127.0.0.1",
  });

  test.each(["hex", "base64"] as const)("is read when its signature is right (%s)", async (as) => {
    const { provider } = await openEsimgoAdapter();
    const esims = [{ iccid: "8944538532008160222", reference: null }];
    for (const body of [
      '{"alertType":"Utilisation","iccid":"8944538532008160222","bundle":{"name":"a"}}',
      // Beyond what a double holds: its digits must stay.
      '{"iccid":8944538532008160222,"alertType":"FirstUse"}',
      '{"date":"2026-03-01","event":"esim.deleted","iccid" : 8944538532008160222 }',
    ]) {
      expect(provider.readNotice(signed(body, { as }))).toEqual({ esims });
    }
    expect(provider.readNotice(signed('{"alertType":"LowBalance","threshold":10}', { as }))).toEqual({ esims: [] });
  });

  test("is refused without a signature, with another one, and for another body", async () => {
    const { provider } = await openEsimgoAdapter();
    const right = signed('{"iccid":"8944538532008160222"}');
    const refused = { refused: expect.any(String) };
    expect(provider.readNotice({ ...right, headers: {} })).toEqual(refused);
    expect(provider.readNotice({ ...right, headers: { "x-signature-sha256": "" } })).toEqual(refused);
    expect(provider.readNotice({ ...right, headers: { "x-signature-sha256": "0a" } })).toEqual(refused);
    expect(provider.readNotice(signed(right.body.toString(), { key: "other" }))).toEqual(refused);
    expect(provider.readNotice({ ...right, body: Buffer.from('{"iccid":"8944538532008160223"}') })).toEqual(refused);
    expect(provider.readNotice(signed("iccid"))).toEqual(refused);
  });

  test.each(["hex", "base64"] as const)("is understood as the double sends it (%s)", async (signature) => {
    const go = await openEsimgoAdapter({ signature });
    const esim = await sold(go);
    go.double.notify("http://127.0.0.1:1/callbacks");
    const callbacks = go.double.play({ iccid: esim.iccid, used_mb: 600 }, go.clock.now()) ?? [];
    expect(callbacks).toHaveLength(3);
    for (const { headers, body } of callbacks) {
      const notice = { headers, body: Buffer.from(body), address: "127.0.0.1" };
      expect(go.provider.readNotice(notice)).toEqual({ esims: [{ iccid: esim.iccid, reference: null }] });
    }
  });
});
