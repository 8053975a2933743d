import { describe, expect, test } from "vitest";
import { costOf } from "../src/core/kernel/cost.ts";
import { blockTurns } from "../src/core/supply/limit.ts";
import type { Step } from "../src/core/supply/provider.ts";
import { signatureOf } from "../src/daemon/gateways/suppliers/esimaccess/client.ts";
import {
  asked,
  askedTopUp,
  failure,
  REFERENCE,
  run,
  runOn,
  SUPPLIER,
  startAdapter,
  success,
} from "./support/providers/esimaccess-adapter.ts";

const BOUGHT = {
  kind: "bought",
  esim: {
    iccid: expect.stringMatching(/^894310\d{13}$/),
    activationCode: expect.stringMatching(/^LPA:1\$smdp\.esimaccess\.example\$[0-9A-F]{16}$/),
    confirmationCode: null,
    reference: expect.stringMatching(/^\d{14}$/),
  },
  reference: expect.stringMatching(/^B\d{14}$/),
  cost: null,
};
const account = { bucket: "account", most: 8, windowMs: 1_000 };
const kinds = (outcomes: readonly Step[]) => outcomes.map(({ kind }) => kind);

test("a request is signed as the provider's own example is", () => {
  const signed = ["1628670421", "4ce9d9cdac9e4e17b3a2c66c358c1ce2", "11111", '{"imsi":"326543826"}'] as const;
  expect(signatureOf(signed, "1111")).toBe("7eb765e27df5373dea2dbc8c41a7d9557743e46c8054750f3d851b3fd01d0835");
});

describe("an order", () => {
  test("is noted, sent once with the price guard, and found", async () => {
    const { ea, sent, counts } = await startAdapter();
    const noted = await ea.buy(asked({ cost: costOf(7_000) }));
    expect(noted).toMatchObject({ kind: "note", memory: { stage: "send" } });
    expect((await counts()).calls).toBe(0);
    const { last } = await run(ea.buy, asked({ cost: costOf(7_000) }));
    expect(last).toEqual({ ...BOUGHT, cost: 7_000 });
    const packageInfoList = [{ packageCode: "CJP101", count: 1, price: 7_000 }];
    expect(sent("/esim/order")).toEqual([{ transactionId: REFERENCE, amount: 7_000, packageInfoList }]);
    expect(await counts()).toMatchObject({ bought: 1, balance: "999.3000" });
  });

  test("of a daily plan has its days, and guards the total", async () => {
    const { ea, sent, counts } = await startAdapter();
    const { last } = await run(ea.buy, asked({ plan: "DJP1", days: 5, cost: costOf(32_500) }));
    expect(last).toEqual({ ...BOUGHT, cost: 32_500 });
    expect(sent("/esim/order")[0]).toMatchObject({ amount: 32_500, packageInfoList: [{ count: 1, periodNum: 5 }] });
    expect((await counts()).balance).toBe("996.7500");
  });

  test("is waited for while its profile is allocated", async () => {
    const { ea, clock, steer, counts } = await startAdapter();
    await steer({ on: "order", outcome: "wait", delay_ms: 20_000 });
    const outcomes = await runOn(ea.buy, asked(), clock);
    expect(new Set(kinds(outcomes))).toEqual(new Set(["wait", "bought"]));
    expect(outcomes.every((one) => !("waitMs" in one) || one.waitMs <= 10_000)).toBe(true);
    expect(await counts()).toMatchObject({ bought: 1, by: { order: 1 } });
  });

  test("that is never allocated is for people after half an hour, and is looked at once where they ask", async () => {
    const { ea, clock, steer, sent } = await startAdapter();
    await steer({ on: "query", outcome: "wait", count: 1_000 });
    const outcomes = await runOn(ea.buy, asked(), clock);
    const last = outcomes.at(-1);
    expect(last).toMatchObject({ kind: "lost", memory: { stage: "allocating", order: expect.any(String) } });
    const memory = last?.kind === "lost" ? last.memory : null;
    expect((await run(ea.buy, asked({ memory }))).last.kind).toBe("lost");
    expect(sent("/esim/order")).toHaveLength(1);
  });

  test.each([
    ["200011", "plan"],
    ["200005", "plan"],
    ["200006", "plan"],
    ["200007", "account"],
    ["101001", "account"],
    ["101002", "account"],
    ["101003", "account"],
    ["000101", "account"],
    ["000107", "plan"],
    ["310241", "plan"],
    ["310243", "plan"],
  ])("refused with %s is refused because of the %s", async (code, because) => {
    const { ea, script } = await startAdapter();
    script("/esim/order", failure(code));
    expect((await run(ea.buy, asked())).last).toEqual({ kind: "refused", code, message: expect.any(String), because });
  });

  test("with a wrong price, an unknown plan or a wrong key is refused by the double as well", async () => {
    const { ea, adapter } = await startAdapter();
    const code = async (step: Promise<{ last: Step }>) => {
      const { last } = await step;
      return last.kind === "refused" ? last.code : last.kind;
    };
    expect(await code(run(ea.buy, asked({ cost: costOf(6_999) })))).toBe("200005");
    expect(await code(run(ea.buy, asked({ plan: "NONE" })))).toBe("310241");
    expect(await code(run(adapter("DEMOACCESS:other").buy, asked()))).toBe("101003");
    expect((await run(adapter("DEMOACCESS").buy, asked())).last).toEqual({
      kind: "unsent",
      reason: "its secret is not ACCESSCODE:SECRETKEY",
    });
  });

  test.each(["200008", "200009"])("whose answer is %s is for people", async (code) => {
    const { ea, script, sent } = await startAdapter();
    script("/esim/order", failure(code));
    const { last, memory } = await run(ea.buy, asked());
    expect(last).toMatchObject({ kind: "lost", reason: `it answered with code ${code}` });
    // Where they ask for another look, nothing is sent.
    expect((await run(ea.buy, asked({ memory }))).last.kind).toBe("lost");
    expect(sent("/esim/order")).toHaveLength(1);
  });

  test("is not sent while the limit is used up, which is no fault", async () => {
    const { ea, store, sent } = await startAdapter();
    await store.write(blockTurns, { supplier: SUPPLIER, limit: account, waitMs: 60_000 });
    expect((await run(ea.buy, asked())).last).toEqual({ kind: "busy", waitMs: 60_000 });
    expect(sent("/esim/order")).toEqual([]);
  });
});

describe("an order whose outcome is not known", () => {
  test.each(["same", "refused"] as const)("is the same one when it is sent again (repeats: %s)", async (repeats) => {
    const { ea, clock, steer, counts, sent } = await startAdapter({ repeats });
    await steer({ on: "order", outcome: "lost" });
    const outcomes = await runOn(ea.buy, asked({ cost: costOf(7_000) }), clock);
    expect(outcomes).toMatchObject([{ kind: "unknown", reason: "no whole answer", waitMs: 2_000 }, BOUGHT_AT_7000]);
    const [first, again] = sent("/esim/order");
    expect(again).toEqual(first);
    expect(await counts()).toMatchObject({ bought: 1, balance: "999.3000" });
  });

  test("is bought by the repeat where the first one did nothing, as after a crash before it was sent", async () => {
    const { ea, clock, steer, counts } = await startAdapter();
    await steer({ on: "order", outcome: "busy", count: 2 });
    expect(kinds(await runOn(ea.buy, asked(), clock))).toEqual(["unknown", "unknown", "bought"]);
    const noted = await ea.buy(asked({ reference: "0199a0b1-2222-7000-8000-0000000000bb" }));
    const memory = noted.kind === "note" ? noted.memory : null;
    const { last } = await run(ea.buy, asked({ reference: "0199a0b1-2222-7000-8000-0000000000bb", memory }));
    expect(last.kind).toBe("bought");
    expect(await counts()).toMatchObject({ bought: 2 });
  });

  test.each([
    ["a failing server", { status: 502, body: { success: false, errorCode: "200007" } }],
    ["no JSON", { status: 200, body: undefined }],
    ["another form", success({ order: 1 })],
    ["another's order", success({ orderNo: "B1", transactionId: "other" })],
    ["neither yes nor no", { status: 200, body: { success: false } }],
    ["a code that is not known", failure("999999")],
    ["an authentication code that only others name", failure("401001")],
  ])("by %s", async (_, answer) => {
    const { ea, script } = await startAdapter();
    script("/esim/order", answer);
    expect((await run(ea.buy, asked())).last).toMatchObject({ kind: "unknown", waitMs: 2_000, memory: { looks: 1 } });
  });

  test("is looked for where a repeat is refused, and found though the balance is used up", async () => {
    const { ea, clock, steer, script, counts } = await startAdapter();
    await steer({ on: "order", outcome: "lost" });
    script("/esim/order", (_, ordinary) => ordinary(), failure("200007"));
    expect(kinds(await runOn(ea.buy, asked(), clock))).toEqual(["unknown", "bought"]);
    expect(await counts()).toMatchObject({ bought: 1 });
  });

  test("is refused where a repeat is refused and it is not found", async () => {
    const { ea, clock, script, counts } = await startAdapter();
    script("/esim/order", failure("900001"), failure("200007"));
    const outcomes = await runOn(ea.buy, asked(), clock);
    expect(kinds(outcomes)).toEqual([...Array(5).fill("unknown"), "refused"]);
    expect(outcomes.at(-1)).toMatchObject({ code: "200007", because: "account" });
    expect(await counts()).toMatchObject({ bought: 0 });
  });

  test("is for people after 15 look-ups, within the hour that it may be sent again", async () => {
    const { ea, clock, script, sent } = await startAdapter();
    script("/esim/order", ...Array(40).fill({ status: 503, body: "" }));
    const began = clock.now();
    const outcomes = await runOn(ea.buy, asked(), clock);
    expect(kinds(outcomes)).toEqual([...Array(15).fill("unknown"), "lost"]);
    expect(clock.now() - began).toBeLessThan(3_600_000);
    expect(outcomes.at(-1)).toMatchObject({ memory: { stage: "send", looks: 15, lost: true } });
    expect(sent("/esim/order")).toHaveLength(16);
  });

  test("is never sent again where people ask for another look, or after an hour; it is found by its time", async () => {
    const { ea, clock, sent, counts } = await startAdapter();
    const since = clock.now();
    const old = { stage: "send", since, price: null, looks: 0 };
    await run(ea.buy, asked());
    clock.advance(7_200_000);
    expect((await run(ea.buy, asked({ memory: old }))).last).toEqual(BOUGHT);
    const other = "0199a0b1-2222-7000-8000-0000000000bb";
    for (const memory of [old, { ...old, since: clock.now(), lost: true }]) {
      expect((await run(ea.buy, asked({ memory, reference: other }))).last.kind).toBe("lost");
    }
    expect((await run(ea.buy, asked({ memory: { ...old, since: clock.now() - 60_000, lost: true } }))).last).toEqual({
      kind: "lost",
      reason: expect.any(String),
      memory: expect.objectContaining({ lost: true }),
    });
    expect(sent("/esim/order")).toHaveLength(1);
    expect(await counts()).toMatchObject({ bought: 1 });
  });

  test("is found among many, also by the transactionId of a batch's unit, and never by a filter alone", async () => {
    const { ea, script, sent } = await startAdapter();
    const row = (transactionId: string, at: number) => ({
      esimTranNo: `E${at}`,
      orderNo: `B${at}`,
      transactionId,
      iccid: "8943108170000000018",
      ac: "LPA:1$smdp.esimaccess.example$A1",
    });
    const page = Array.from({ length: 500 }, (_, at) => row(`other-${at}`, at));
    script("/esim/order", failure("310402"));
    script("/esim/query", success({ esimList: page }), success({ esimList: [row(`${REFERENCE}-1-1`, 501)] }));
    expect((await run(ea.buy, asked())).last).toMatchObject({ kind: "bought", reference: "B501" });
    expect(sent("/esim/query").map(({ pager }) => pager.pageNum)).toEqual([1, 2]);
    script("/esim/order", failure("310402"));
    script("/esim/query", success({ esimList: [row("other", 1)] }));
    expect((await run(ea.buy, asked())).last).toMatchObject({ kind: "unknown", memory: { stage: "exists" } });
    script("/esim/order", failure("310402"));
    script("/esim/query", success({ esimList: [row(REFERENCE, 1), row(REFERENCE, 2)] }));
    expect((await run(ea.buy, asked())).last).toMatchObject({ kind: "lost" });
  });

  test("counts no look-up for a limit of the provider's", async () => {
    const { ea, script } = await startAdapter();
    script("/esim/order", failure("900001"), { status: 429, body: {} });
    const { memory } = await run(ea.buy, asked());
    expect((await run(ea.buy, asked({ memory }))).last).toEqual({ kind: "busy", waitMs: 1_000 });
  });

  test("notes that are not understood are for people", async () => {
    const { ea, sent } = await startAdapter();
    expect((await run(ea.buy, asked({ memory: { step: 1 } }))).last).toMatchObject({
      kind: "lost",
      memory: { step: 1 },
    });
    expect(sent("/esim/order")).toEqual([]);
  });
});

const BOUGHT_AT_7000 = { ...BOUGHT, cost: 7_000 };

test("without a connection a first order is unsent, and a repeat is not", async () => {
  const { ea, close } = await startAdapter();
  const noted = await ea.buy(asked());
  const memory = noted.kind === "note" ? noted.memory : null;
  await close();
  expect(await ea.buy(asked({ memory, fresh: true }))).toEqual({
    kind: "unsent",
    reason: "no connection (ECONNREFUSED)",
  });
  expect(await ea.buy(asked({ memory }))).toMatchObject({
    kind: "unknown",
    reason: "no connection (ECONNREFUSED)",
    memory: { looks: 1 },
  });
});

describe("a top-up", () => {
  test("is noted, sent once by the eSIM's own name, and applied", async () => {
    const { ea, bought, sent, counts } = await startAdapter();
    const esim = await bought();
    const { last } = await run(ea.topUp, askedTopUp(esim, { cost: costOf(7_000) }));
    expect(last).toEqual({ kind: "applied", reference: expect.stringMatching(/^\d{14}$/), cost: 7_000 });
    expect(sent("/esim/topup")).toEqual([
      { esimTranNo: esim.reference, packageCode: "TOPUP_CJP101", transactionId: REFERENCE, amount: 7_000 },
    ]);
    expect((await counts()).balance).toBe("998.6000");
    const nameless = askedTopUp({ ...esim, reference: null });
    expect((await run(ea.topUp, nameless)).last).toMatchObject({ kind: "refused", code: "no_reference" });
  });

  test("is refused where it does not fit, with its code", async () => {
    const { ea, bought, steer, script } = await startAdapter();
    const esim = await bought();
    expect((await run(ea.topUp, askedTopUp(esim, { plan: "TOPUP_CKR101" }))).last).toMatchObject({ code: "310243" });
    await steer({ on: "topup", outcome: "refuse" });
    expect((await run(ea.topUp, askedTopUp(esim))).last).toMatchObject({ code: "200002", because: "plan" });
    script("/esim/topup", failure("200008"));
    expect((await run(ea.topUp, askedTopUp(esim))).last.kind).toBe("lost");
  });

  test("whose answer is lost is found on the eSIM, also where it is shown later", async () => {
    const { ea, bought, clock, steer, script, counts } = await startAdapter();
    const esim = await bought();
    await steer({ on: "topup", outcome: "lost" });
    const outcomes = await runOn(ea.topUp, askedTopUp(esim), clock);
    expect(kinds(outcomes)).toEqual(["unknown", "applied"]);
    await steer({ on: "topup", outcome: "wait", delay_ms: 40_000 });
    script("/esim/topup", (_, ordinary) => {
      ordinary();
      return { status: 504, body: "" };
    });
    const later = await runOn(ea.topUp, askedTopUp(esim, { reference: "0199a0b1-2222-7000-8000-0000000000bb" }), clock);
    expect(kinds(later).at(-1)).toBe("applied");
    expect(await counts()).toMatchObject({ by: { topup: 2 } });
  });

  test.each(["same", "refused"] as const)(
    "is sent again once, after it was not found (repeats: %s)",
    async (repeats) => {
      const { ea, bought, clock, steer, script, sent, counts } = await startAdapter({ repeats });
      const esim = await bought();
      await steer({ on: "topup", outcome: "busy" });
      const outcomes = await runOn(ea.topUp, askedTopUp(esim), clock);
      expect(kinds(outcomes)).toEqual([...Array(5).fill("unknown"), "applied"]);
      expect(sent("/esim/topup")).toHaveLength(2);
      // It was applied, and no look-up shows it.
      const hidden = askedTopUp(esim, { reference: "0199a0b1-2222-7000-8000-0000000000bb" });
      await steer({ on: "topup", outcome: "wait", delay_ms: 600_000 });
      await steer({ on: "topup", outcome: "lost" });
      script("/esim/topup", (_, ordinary) => {
        ordinary();
        return { status: 504, body: "" };
      });
      expect((await runOn(ea.topUp, hidden, clock)).at(-1)?.kind).toBe("applied");
      expect((await counts()).balance).toBe("997.9000");
    },
  );

  test("is for people where nothing shows it and a repeat has no answer either", async () => {
    const { ea, bought, clock, steer, sent } = await startAdapter();
    const esim = await bought();
    await steer({ on: "topup", outcome: "busy", count: 100 });
    const outcomes = await runOn(ea.topUp, askedTopUp(esim), clock);
    expect(outcomes.at(-1)).toMatchObject({ kind: "lost", memory: { lost: true } });
    expect(sent("/esim/topup")).toHaveLength(2);
    const last = outcomes.at(-1);
    const memory = last?.kind === "lost" ? last.memory : null;
    expect((await run(ea.topUp, askedTopUp(esim, { memory }))).last.kind).toBe("lost");
    expect(sent("/esim/topup")).toHaveLength(2);
  });

  test("is never sent right after a crash, but looked for", async () => {
    const { ea, bought, sent } = await startAdapter();
    const esim = await bought();
    const noted = await ea.topUp(askedTopUp(esim));
    const memory = noted.kind === "note" ? noted.memory : null;
    expect((await run(ea.topUp, askedTopUp(esim, { memory }))).last).toMatchObject({ kind: "unknown", waitMs: 2_000 });
    expect(sent("/esim/topup")).toEqual([]);
  });
});
