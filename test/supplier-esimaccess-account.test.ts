import { describe, expect, test } from "vitest";
import { costOf } from "../src/core/kernel/cost.ts";
import type { Notice } from "../src/daemon/gateways/suppliers/provider.ts";
import { basePackages } from "../src/daemon/simulators/esimaccess-catalog.ts";
import { asked, failure, run, startAdapter, success } from "./support/providers/esimaccess-adapter.ts";

describe("the catalog", () => {
  test("is listed with what its plans promise", async () => {
    const { ea, sent } = await startAdapter();
    const plans = (await ea.catalog()).plans;
    expect(sent("/package/list")).toEqual([{ type: "BASE" }]);
    expect(plans.find(({ plan }) => plan === "CJP103")).toEqual({
      plan: "CJP103",
      name: "Japan 3GB 15Days",
      cost: 17_500,
      currency: "USD",
      coverage: ["JP"],
      region: null,
      dataMb: 3_072,
      unlimited: false,
      validityDays: 15,
      daily: false,
      voice: false,
      speed: "3G/4G/5G",
      networks: ["KDDI", "SoftBank"],
      activation: "At the first connection to a network it covers",
      notes: ["Unused, it lapses after 180 days", "Goes online through NL/FR"],
      topup: true,
    });
    const daily = plans.find(({ plan }) => plan === "DJP1");
    expect(daily).toMatchObject({ daily: true, validityDays: 1, dataMb: 1_024, cost: 6_500 });
    expect(daily?.notes).toContain("Beyond the allowance: 1 Mbps");
    const asia = plans.find(({ plan }) => plan === "RAS501");
    expect(asia).toMatchObject({ coverage: ["AU", "JP", "KR", "SG", "TH"], region: "AS-5" });
    expect(asia?.networks).toHaveLength(10);
    expect(plans.find(({ plan }) => plan === "CGB103")?.topup).toBe(false);
    expect(plans.some(({ plan }) => plan.startsWith("TOPUP_"))).toBe(false);
  });

  test("of an eSIM's top-ups holds what fits it; no plan of the catalog does", async () => {
    const { ea, bought } = await startAdapter();
    const esim = await bought();
    const plans = (await ea.topupPlans(esim)) ?? [];
    expect(plans.map(({ plan }) => plan).sort()).toEqual([
      "TOPUP_CJP101",
      "TOPUP_CJP103",
      "TOPUP_CJP110",
      "TOPUP_DJP1",
    ]);
    expect(await ea.fits(esim, "CJP101")).toBe(false);
    expect(await ea.topupPlans(await bought({ plan: "CGB103" }))).toEqual([]);
  });

  test("leaves out what it does not understand, and is no answer where that is most of it", async () => {
    const { ea, script } = await startAdapter();
    const [one, ...others] = basePackages;
    const odd = [
      { ...one, price: "7000" },
      { ...one, dataType: 4 },
      { ...one, dataType: 2, duration: 7 },
      { ...one, durationUnit: "MONTH" },
      { ...one, location: "Japan" },
      { ...one, volume: 0 },
    ];
    script("/package/list", success({ packageList: [...others, ...odd] }));
    const { plans, unread } = await ea.catalog();
    expect(plans.map(({ plan }) => plan)).toEqual(others.map(({ packageCode }) => packageCode));
    expect(unread).toEqual(
      [
        "price must be a whole number",
        "nothing states the allowance of its kind (dataType 4)",
        "nothing states the price of a daily plan of 7 days",
        "durationUnit must be DAY",
        "location is not in the expected form",
        "it has less than 1 MB",
      ].map((reason, at) => ({ row: others.length + at + 1, plan: one?.packageCode, name: one?.name, reason })),
    );
    script("/package/list", success({ packageList: odd }), success({}), success(null), failure("101003"));
    script("/package/list", { status: 502, body: "" });
    const form = "its answer has another form than its reference says";
    for (const words of [form, form, form, "it answered with code 101003", "it answered 502"]) {
      const message = `eSIM Access gave no usable answer: ${words}.`;
      await expect(ea.catalog()).rejects.toMatchObject({ slug: "supplier_unreachable", status: 503, message });
    }
  });
});

describe.each(["seen", "documented"] as const)("what an eSIM has become (envelope: %s)", (envelope) => {
  test.each([
    [{}, { install: "not_downloaded", status: "inactive", usedMb: 0, activatedAt: null }],
    [{ state: "installed" }, { install: "installed", status: "inactive", activatedAt: null }],
    [{ state: "enabled" }, { install: "enabled", status: "inactive", usedMb: 0 }],
    [
      { state: "in_use", used_mb: 512 },
      { install: "enabled", status: "active", usedMb: 512, totalMb: 1_024 },
    ],
    [{ state: "used_up" }, { install: "enabled", status: "used_up", usedMb: 1_024 }],
    [{ state: "suspended" }, { status: "suspended" }],
    [{ state: "expired" }, { status: "expired" }],
    [{ state: "deleted", used_mb: 10 }, { install: "deleted" }],
  ] as const)("after %j", async (played, report) => {
    const { ea, bought, phone } = await startAdapter({ envelope });
    const esim = await bought();
    await phone({ iccid: esim.iccid, ...played });
    const [found, ...others] = await ea.look([esim]);
    expect(found).toMatchObject({ ...esim, ...report, country: null, network: null, expiresAt: expect.any(Number) });
    expect(others).toEqual([]);
  });
});

describe("looking at eSIMs", () => {
  test("asks for each by its own name, for usage by tens, and leaves out what is not known", async () => {
    const { ea, bought, sent } = await startAdapter();
    const esims = [];
    for (let count = 0; count < 12; count++) esims.push(await bought());
    const strangers = [
      { iccid: "8943108170000000018", reference: "26030200000000" },
      { iccid: esims[0]?.iccid ?? "", reference: null },
    ];
    const queries = sent("/esim/query").length;
    const reports = await ea.look([...esims, ...strangers]);
    expect(reports.map(({ iccid, reference }) => ({ iccid, reference }))).toEqual(esims);
    expect(sent("/esim/usage/query").map(({ esimTranNoList }) => esimTranNoList.length)).toEqual([10, 3]);
    expect(sent("/esim/query").length - queries).toBe(13);
  });

  test("takes the newest usage of both lists, and times as they are written", async () => {
    const { ea, script, clock } = await startAdapter();
    const esim = { iccid: "8943108170000000018", reference: "E1" };
    const gigabyte = 1_073_741_824;
    const row = {
      ...{ esimTranNo: "E1", orderNo: "B1", smdpStatus: "ENABLED", esimStatus: "IN_USE", totalVolume: gigabyte },
      ...{ orderUsage: gigabyte / 2, activateTime: "2026-03-01T12:00:00+0200", expiredTime: "2026-03-08T10:00:00" },
    };
    script("/esim/query", success({ esimList: [row] }));
    script("/esim/usage/query", success([{ esimTranNo: "E1", dataUsage: gigabyte * 0.75, totalData: gigabyte }]));
    expect(await ea.look([esim])).toEqual([
      {
        ...esim,
        ...{ install: "enabled", status: "active", usedMb: 768, totalMb: 1_024, country: null, network: null },
        ...{ activatedAt: Date.parse("2026-03-01T10:00:00Z"), expiresAt: Date.parse("2026-03-08T10:00:00Z") },
        at: clock.now(),
      },
    ]);
    // Usage alone has no answer; a state that is not known is none; another eSIM's row is not this one's.
    script("/esim/usage/query", failure("900001"), failure("900001"));
    script("/esim/query", success({ esimList: [{ ...row, esimStatus: "REVOKED", smdpStatus: "NEW" }] }));
    script("/esim/query", success({ esimList: [{ ...row, esimTranNo: "E2" }] }));
    expect(await ea.look([esim])).toMatchObject([{ install: null, status: "unknown", usedMb: 512 }]);
    expect(await ea.look([esim])).toEqual([]);
    script("/esim/query", failure("900001"));
    await expect(ea.look([esim])).rejects.toMatchObject({ slug: "supplier_unreachable" });
  });
});

describe("giving back", () => {
  test("is done once for an unused eSIM, and again says the same", async () => {
    const { ea, bought, counts } = await startAdapter();
    const esim = await bought();
    const done = { outcome: "done", detail: expect.any(String), reference: esim.reference, replacement: null };
    expect(await ea.refund(esim)).toEqual(done);
    expect(await ea.refund(esim)).toEqual(done);
    expect(await counts()).toMatchObject({ bought: 0, balance: "1000.0000" });
  });

  test("is not available for one that was downloaded, or whose name there is not known", async () => {
    const { ea, bought, phone } = await startAdapter();
    const esim = await bought();
    await phone({ iccid: esim.iccid, state: "installed" });
    expect(await ea.refund(esim)).toEqual({
      outcome: "not_available",
      detail: "Only an eSIM that was never downloaded can be canceled; this one is GOT_RESOURCE, INSTALLATION.",
    });
    expect(await ea.refund({ ...esim, reference: null })).toMatchObject({ outcome: "not_available" });
    expect(await ea.replace(esim)).toMatchObject({ outcome: "not_available" });
  });

  test("whose answer is lost is found out by asking again", async () => {
    const { ea, bought, steer, script } = await startAdapter();
    const esim = await bought();
    await steer({ on: "cancel", outcome: "lost" });
    expect(await ea.refund(esim)).toMatchObject({ outcome: "unknown" });
    expect(await ea.refund(esim)).toMatchObject({ outcome: "done" });
    const other = await bought();
    // Canceled, and not yet shown as such.
    await steer({ on: "cancel", outcome: "refuse" });
    expect(await ea.refund(other)).toMatchObject({ outcome: "unknown" });
    script("/esim/cancel", failure("999999"), failure("900001"), { status: 500, body: "" });
    for (let count = 0; count < 3; count++) expect(await ea.refund(other)).toMatchObject({ outcome: "unknown" });
  });
});

describe("notices", () => {
  const content = { iccid: "8943108170000000018", esimTranNo: "E1", orderNo: "B1", esimStatus: "IN_USE" };
  const notice = (body: unknown, address = "54.254.74.88"): Notice => {
    return { headers: {}, body: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)), address };
  };

  test.each(["SMDP_EVENT", "ESIM_STATUS", "DATA_USAGE"])("%s names the eSIM to be looked at", async (notifyType) => {
    const { ea } = await startAdapter();
    const esims = [{ iccid: content.iccid, reference: "E1" }];
    expect(ea.readNotice(notice({ notifyType, notifyId: "1", content }))).toEqual({ esims });
    expect(ea.readNotice(notice({ notifyType, content }, "::ffff:3.1.131.226"))).toEqual({ esims });
  });

  test("others name none, or only an ICCID", async () => {
    const { ea } = await startAdapter();
    const esims = [{ iccid: content.iccid, reference: null }];
    const { esimTranNo: _, ...ofValidity } = content;
    expect(ea.readNotice(notice({ notifyType: "VALIDITY_USAGE", content: ofValidity }))).toEqual({ esims });
    for (const [notifyType, orderStatus] of [
      ["CHECK_HEALTH", "Test"],
      ["ORDER_STATUS", "GOT_RESOURCE"],
    ]) {
      expect(ea.readNotice(notice({ notifyType, content: { orderNo: "B1", orderStatus } }))).toEqual({ esims: [] });
    }
  });

  test("are refused from other addresses and in other forms; loopback is for a supplier that is there", async () => {
    const { ea, adapter } = await startAdapter();
    const real = adapter("A:B", "https://api.esimaccess.com/api/v1/open");
    const refused = { refused: expect.any(String) };
    const body = { notifyType: "ESIM_STATUS", content };
    for (const address of ["54.254.74.89", "127.0.0.1", "::1", "", "unknown"]) {
      expect(real.readNotice(notice(body, address)), address).toEqual(refused);
    }
    expect(adapter("A:B", "https://127.0.0.1.example/open").readNotice(notice(body, "127.0.0.1"))).toEqual(refused);
    expect(ea.readNotice(notice(body, "127.0.0.1"))).toMatchObject({ esims: [{ reference: "E1" }] });
    for (const odd of ["", "{", "[]", "null", { notifyType: 1 }, { notifyType: "ESIM_STATUS", content: "x" }]) {
      expect(ea.readNotice(notice(odd)), JSON.stringify(odd)).toEqual(refused);
    }
  });
});

describe("the account", () => {
  test("its balance is what the provider says, in its own precision", async () => {
    const { ea, script } = await startAdapter();
    await run(ea.buy, asked({ plan: "CTR100", cost: costOf(1_843) }));
    expect(await ea.balance()).toEqual({ currency: "USD", balance: 9_998_157 });
    script(
      "/balance/query",
      success({ balance: 5, currencyCode: "EUR" }),
      success({ balance: "5" }),
      failure("101003"),
    );
    expect(await ea.balance()).toEqual({ currency: "EUR", balance: 5 });
    await expect(ea.balance()).rejects.toMatchObject({ slug: "supplier_unreachable" });
    await expect(ea.balance()).rejects.toMatchObject({
      message: "eSIM Access gave no usable answer: it answered with code 101003.",
    });
  });

  test("a check proves credential, balance and clock", async () => {
    const { ea, clock, script } = await startAdapter();
    expect(await ea.check()).toEqual([
      { name: "credential", ok: true, detail: "It is accepted." },
      { name: "balance", ok: true, detail: "1000.0000 USD" },
      { name: "clock", ok: true, detail: "Both clocks agree." },
    ]);
    script("/balance/query", {
      ...success({ balance: 0 }),
      headers: { date: new Date(clock.now() + 120_150).toUTCString() },
    });
    expect(await ea.check()).toMatchObject([
      { ok: true },
      { name: "balance", ok: false, detail: "0.0000 USD" },
      { name: "clock", ok: false, detail: "Its clock is 120 s ahead of this machine's." },
    ]);
  });

  test("a check says what is wrong, and never throws", async () => {
    const { ea, adapter, script, close } = await startAdapter();
    const details = async (of = ea) => (await of.check()).map(({ ok, detail }) => (ok ? "ok" : detail));
    const wrong = "The signature does not match: set the secret again. (101003)";
    expect(await details(adapter("DEMOACCESS:other"))).toEqual([wrong, "ok"]);
    script("/balance/query", failure("101001"));
    expect(await details()).toEqual(["It refuses the request's time: set this machine's clock. (101001)", "ok"]);
    script("/balance/query", { status: 502, body: "" });
    expect(await details()).toEqual(["it answered 502"]);
    expect(await details(adapter("only one part"))).toEqual(["its secret is not ACCESSCODE:SECRETKEY"]);
    await close();
    expect(await details()).toEqual(["no connection (ECONNREFUSED)"]);
  });
});
