import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { luhnValid } from "../src/core/kernel/check-digits.ts";
import { eaSignature } from "../src/daemon/simulators/esimaccess-access.ts";
import { ACCESS, PAGER, startEsimaccess } from "./support/providers/esimaccess.ts";

describe("access", () => {
  test("the reference's own example of a signature", () => {
    const signed = { timestamp: "1628670421", requestId: "4ce9d9cdac9e4e17b3a2c66c358c1ce2", accessCode: "11111" };
    expect(eaSignature(signed, Buffer.from('{"imsi":"326543826"}'), "1111")).toBe(
      "7eb765e27df5373dea2dbc8c41a7d9557743e46c8054750f3d851b3fd01d0835",
    );
  });

  test("the access code alone is enough; signed headers have to be complete and right", async () => {
    const { raw, clock } = await startEsimaccess();
    const body = '{"a": "\u00e4"}';
    const signing = (changed: Record<string, string | undefined> = {}, at = clock.now(), signedBody = body) => {
      const signed = { timestamp: String(at), requestId: randomUUID(), accessCode: "DEMOACCESS" };
      const headers: Record<string, string | undefined> = {
        ...ACCESS,
        "rt-requestid": signed.requestId,
        "rt-timestamp": signed.timestamp,
        "rt-signature": eaSignature(signed, Buffer.from(signedBody), "DEMOSECRETKEY"),
        ...changed,
      };
      return Object.fromEntries(Object.entries(headers).flatMap(([name, value]) => (value ? [[name, value]] : [])));
    };
    const codeOf = async (headers: Record<string, string>) =>
      (await raw("/balance/query", body, headers)).answer.errorCode;
    expect(await codeOf(ACCESS)).toBeNull();
    expect(await codeOf(signing())).toBeNull();
    expect(await codeOf(signing({}, clock.now() - 300_000))).toBeNull();
    const upper = signing();
    expect(await codeOf({ ...upper, "rt-signature": `${upper["rt-signature"]?.toUpperCase()}` })).toBeNull();
    expect(await codeOf({})).toBe("000101");
    expect(await codeOf({ "rt-accesscode": "OTHER" })).toBe("101003");
    for (const missing of ["rt-requestid", "rt-timestamp", "rt-signature"]) {
      expect(await codeOf(signing({ [missing]: undefined })), missing).toBe("000101");
    }
    expect(await codeOf(signing({ "rt-requestid": "1" }))).toBe("000102");
    expect(await codeOf(signing({ "rt-timestamp": "today" }))).toBe("000102");
    expect(await codeOf(signing({}, clock.now() - 300_001))).toBe("101001");
    expect(await codeOf(signing({}, clock.now() + 300_001))).toBe("101001");
    // Seconds in place of milliseconds.
    expect(await codeOf(signing({}, Math.floor(clock.now() / 1_000)))).toBe("101001");
    expect(await codeOf(signing({}, clock.now(), '{"a":"\u00e4"}'))).toBe("101003");
    expect(await codeOf(signing({ "rt-signature": "00" }))).toBe("101003");
  });

  test("every call is a POST of a JSON object; failures come in the envelope with status 200", async () => {
    const { raw } = await startEsimaccess();
    expect(await raw("/balance/query", "", ACCESS, "GET")).toMatchObject({
      status: 200,
      answer: { success: false, errorCode: "000103", errorMsg: expect.any(String), obj: null },
    });
    for (const body of ["", "null", "[]", "{"]) {
      expect((await raw("/balance/query", body)).answer.errorCode, body).toBe("000104");
    }
    expect((await raw("/esim/none", "{}")).status).toBe(404);
    expect((await raw("/constructor", "{}")).status).toBe(404);
  });

  test("8 calls a second; the 9th is a 429, and does nothing", async () => {
    const { raw, clock, counts } = await startEsimaccess({ perSecond: 8 });
    const order = (transactionId: string) =>
      raw("/esim/order", JSON.stringify({ transactionId, packageInfoList: [{ slug: "JP_1_7", count: 1 }] }));
    for (let at = 0; at < 8; at++) expect((await order(`t${at}`)).status).toBe(200);
    expect(await order("t8")).toMatchObject({ status: 429, answer: { success: false, obj: null } });
    expect((await counts()).bought).toBe(8);
    clock.advance(1_000);
    expect((await order("t8")).answer.success).toBe(true);
  });

  test("the reference's own form of the envelope can be had too", async () => {
    const { call, order } = await startEsimaccess({ envelope: "documented" });
    expect(await call("/balance/query")).toEqual({
      success: "true",
      errorCode: "0",
      errorMessage: null,
      obj: { balance: 10_000_000 },
    });
    expect(await order("t", "NONE")).toMatchObject({
      success: "false",
      errorCode: "310241",
      errorMessage: expect.stringMatching(/code/),
    });
    expect(await call("/esim/usage/query", { esimTranNoList: ["x"] })).toMatchObject({ obj: [] });
  });
});

describe("the catalog", () => {
  test("lists packages in one answer, by place, kind, code and slug", async () => {
    const { obj, code } = await startEsimaccess();
    const list = async (filter: Record<string, unknown> = {}) => (await obj("/package/list", filter)).packageList;
    const all = await list({ locationCode: "", type: "", packageCode: "", slug: "", iccid: "" });
    expect(all.length).toBeGreaterThanOrEqual(12);
    expect(all[0]).toMatchObject({
      packageCode: "CJP101",
      slug: "JP_1_7",
      name: "Japan 1GB 7Days",
      price: 7_000,
      currencyCode: "USD",
      volume: 1_073_741_824,
      dataType: 1,
      duration: 7,
      durationUnit: "DAY",
      unusedValidTime: 180,
      location: "JP",
      locationCode: "JP",
      supportTopUpType: 2,
    });
    expect(all[0].locationNetworkList[0].operatorList).toContainEqual({ operatorName: "KDDI", networkType: "5G" });
    expect(await list({ dataType: 2 })).toMatchObject([{ packageCode: "DJP1", duration: 1, supportTopUpType: 3 }]);
    const codes = async (filter: Record<string, unknown>) =>
      (await list(filter)).map(({ packageCode }: { packageCode: string }) => packageCode);
    expect(await codes({ locationCode: "!GL" })).toEqual(["RGL101"]);
    expect(await codes({ locationCode: "!RG" })).toEqual(["RAS501", "REU601", "REU610"]);
    expect(await codes({ locationCode: "KR" })).toEqual(["CKR101", "RAS501", "RGL101"]);
    expect(await codes({ slug: "JP_1_7" })).toEqual(["CJP101"]);
    expect(await codes({ type: "TOPUP", packageCode: "CJP101" })).toEqual(["TOPUP_CJP101"]);
    expect(await code("/package/list", { locationCode: "XX" })).toBe("310211");
    expect(await code("/package/list", { packageCode: "NONE" })).toBe("310241");
    expect(await code("/package/list", { type: "ALL" })).toBe("000107");
    expect((await obj("/location/list")).locationList).toContainEqual({
      code: "JP",
      name: "Japan",
      type: 1,
      subLocation: null,
    });
  });

  test("with type TOPUP and an ICCID: what fits that eSIM", async () => {
    const { obj, bought } = await startEsimaccess();
    const fits = async (iccid: string) =>
      (await obj("/package/list", { type: "TOPUP", iccid })).packageList.map(
        ({ packageCode }: { packageCode: string }) => packageCode,
      );
    expect(await fits((await bought("t1", "CKR101")).iccid)).toEqual(["TOPUP_CKR101"]);
    expect(await fits((await bought("t2", "CGB103")).iccid)).toEqual([]);
    expect(await fits("8900000000000000000")).toEqual([]);
  });
});

describe("an order", () => {
  test("is paid from the balance and gives no ICCID; a query shows what was allocated", async () => {
    const { order, rows, balance, counts } = await startEsimaccess();
    const { success, errorCode, obj: placed } = await order("own-1", "CJP101", 2);
    expect([success, errorCode]).toEqual([true, null]);
    expect(placed).toEqual({ orderNo: expect.stringMatching(/^B\d+$/), transactionId: "own-1" });
    expect(await balance()).toBe(9_986_000);
    expect(await counts()).toMatchObject({ bought: 2, balance: "998.6000" });
    const found = await rows({ orderNo: placed.orderNo });
    expect(found).toHaveLength(2);
    expect(new Set(found.map(({ iccid }: { iccid: string }) => iccid)).size).toBe(2);
    for (const row of found) {
      expect(luhnValid(row.iccid) && /^\d{19,20}$/.test(row.iccid)).toBe(true);
      expect(row).toMatchObject({
        ...placed,
        ac: expect.stringMatching(/^LPA:1\$[^$]+\$[0-9A-F]{16}$/),
        smdpStatus: "RELEASED",
        esimStatus: "GOT_RESOURCE",
        eid: "",
        orderUsage: 0,
        totalVolume: 1_073_741_824,
        totalDuration: 7,
        activateTime: null,
        expiredTime: "2026-08-29T09:30:00+0000",
        packageList: [{ packageCode: "CJP101", slug: "JP_1_7", transactionId: "own-1", esimTranNo: row.esimTranNo }],
      });
    }
  });

  test.each([
    ["same", { success: true, errorCode: null }],
    ["refused", { success: false, errorCode: "310402" }],
  ] as const)("a transactionId counts once, whatever is in the body; again: %s", async (repeats, again) => {
    const { order, counts, steer } = await startEsimaccess({ repeats });
    const first = await order("own-1");
    expect(await order("own-1")).toMatchObject(again);
    await steer({ on: "order", outcome: "refuse" });
    const other = await order("own-1", "CUS110", 3);
    expect(other).toMatchObject(again);
    if (repeats === "same") expect(other.obj).toEqual(first.obj);
    expect(await counts()).toMatchObject({ bought: 1, balance: "999.3000" });
  });

  test("refusals, each with its code and nothing bought", async () => {
    const { code, counts } = await startEsimaccess();
    const line = { packageCode: "CJP101", count: 1 };
    const packageInfoList = [line];
    const wrong: [code: string, body: Record<string, unknown>][] = [
      ["000105", { packageInfoList }],
      ["000105", { transactionId: "t" }],
      ["000105", { transactionId: "t", packageInfoList: [{ count: 1 }] }],
      ["000106", { transactionId: null, packageInfoList }],
      ["000104", { transactionId: 7, packageInfoList }],
      ["000107", { transactionId: "t".repeat(51), packageInfoList }],
      ["000107", { transactionId: "", packageInfoList }],
      ["000107", { transactionId: "t", packageInfoList: [] }],
      ["000107", { transactionId: "t", packageInfoList: [{ ...line, count: 0 }] }],
      ["200008", { transactionId: "t", packageInfoList: [{ ...line, count: 31 }] }],
      ["200008", { transactionId: "t", packageInfoList: [{ ...line, periodNum: 3 }] }],
      ["200008", { transactionId: "t", packageInfoList: [{ packageCode: "DJP1", count: 1 }] }],
      ["000107", { transactionId: "t", packageInfoList: [{ packageCode: "DJP1", count: 1, periodNum: 366 }] }],
      ["310241", { transactionId: "t", packageInfoList: [{ packageCode: "TOPUP_CJP101", count: 1 }] }],
      ["310243", { transactionId: "t", packageInfoList: [{ slug: "NONE", count: 1 }] }],
      ["200005", { transactionId: "t", packageInfoList: [{ ...line, price: 6_999 }] }],
      ["200006", { transactionId: "t", amount: 7_001, packageInfoList }],
      ["200007", { transactionId: "t", packageInfoList: [{ packageCode: "DJP1", count: 30, periodNum: 365 }] }],
    ];
    for (const [expected, body] of wrong) expect(await code("/esim/order", body), JSON.stringify(body)).toBe(expected);
    expect(await counts()).toMatchObject({ bought: 0, balance: "1000.0000" });
    // The id of a refused order is free.
    expect(await code("/esim/order", { transactionId: "t", amount: 7_000, packageInfoList })).toBeNull();
  });

  test("a daily plan costs its price a day; a slug is an alias of the code", async () => {
    const { obj, rows, balance } = await startEsimaccess();
    const packageInfoList = [{ slug: "JP_1_Daily", count: 2, price: 6_500, periodNum: 3 }];
    const { orderNo } = await obj("/esim/order", { transactionId: "t", amount: 39_000, packageInfoList });
    expect(await balance()).toBe(10_000_000 - 39_000);
    expect(await rows({ orderNo })).toMatchObject([
      { dataType: 2, totalDuration: 3 },
      { dataType: 2, totalDuration: 3 },
    ]);
  });

  test("steered: refused, busy and lost", async () => {
    const { steer, order, counts, url } = await startEsimaccess();
    await steer({ on: "order", outcome: "refuse" });
    expect(await order("t")).toMatchObject({ success: false, errorCode: "200011" });
    await steer({ on: "order", outcome: "busy" });
    expect(await order("t")).toMatchObject({ success: false, errorCode: "900001" });
    expect((await counts()).bought).toBe(0);
    await steer({ on: "order", outcome: "lost" });
    await expect(order("t")).rejects.toThrow();
    expect((await counts()).bought).toBe(1);
    expect((await order("t")).obj.transactionId).toBe("t");
    expect((await counts()).bought).toBe(1);
    await fetch(`${url}/_simulate`, { method: "DELETE" });
    expect(await counts()).toMatchObject({ calls: 0, bought: 0, balance: "1000.0000" });
  });

  test("one that waits is 200010 until it is allocated, and in no list before", async () => {
    const { steer, order, code, rows, clock, phone } = await startEsimaccess();
    await steer({ on: "order", outcome: "wait", delay_ms: 5_000 });
    const { orderNo } = (await order("t")).obj;
    const window = { startTime: "2026-03-02T09:29:00+0000", endTime: "2026-03-02T09:31:00+00:00" };
    expect(await code("/esim/query", { orderNo, pager: PAGER })).toBe("200010");
    expect(await rows(window)).toEqual([]);
    clock.advance(5_000);
    const [row] = await rows({ orderNo });
    expect(await rows(window)).toEqual([row]);
    expect(await phone({ iccid: row.iccid })).toEqual([]);
  });
});

describe("a query", () => {
  test("filters by what is documented, pages, and refuses what is incomplete", async () => {
    const { order, rows, code, obj, bought, clock } = await startEsimaccess();
    await order("many", "CKR101", 7);
    clock.advance(60_000);
    const one = await bought("one");
    expect(await rows({ iccid: one.iccid })).toEqual([one]);
    expect(await rows({ esimTranNo: one.esimTranNo, orderNo: "" })).toEqual([one]);
    const window = { startTime: "2026-03-02T09:30:30Z", endTime: "2026-03-02T09:40:00Z" };
    expect(await rows({ ...window, transactionId: "ignored" })).toEqual([one]);
    const wide = { startTime: "2026-03-02T00:00:00Z", endTime: "2026-03-03T00:00:00Z" };
    const page = (pageNum: number) => obj("/esim/query", { ...wide, pager: { pageNum, pageSize: 5 } });
    expect([(await page(1)).esimList.length, (await page(2)).esimList.length]).toEqual([5, 3]);
    expect((await page(2)).pager).toEqual({ pageNum: 2, pageSize: 5, total: 8 });
    const wrong: [code: string, body: Record<string, unknown>][] = [
      ["000105", { orderNo: one.orderNo }],
      ["000105", { pager: PAGER }],
      ["000105", { transactionId: "one", pager: PAGER }],
      ["000105", { startTime: window.startTime, pager: PAGER }],
      ["000107", { startTime: "2026-03-02", endTime: "2026-03-03", pager: PAGER }],
      ["000107", { orderNo: one.orderNo, pager: { pageNum: 1, pageSize: 4 } }],
      ["000107", { orderNo: one.orderNo, pager: { pageNum: 0, pageSize: 5 } }],
      ["310272", { orderNo: "B1", pager: PAGER }],
      ["310403", { orderNo: one.orderNo, iccid: "8900000000000000000", pager: PAGER }],
    ];
    for (const [expected, body] of wrong) expect(await code("/esim/query", body), JSON.stringify(body)).toBe(expected);
    expect(await rows({ iccid: "8900000000000000000" })).toEqual([]);
  });

  test("steered: refused says nothing of the order", async () => {
    const { steer, code, bought } = await startEsimaccess();
    const { orderNo } = await bought("t");
    for (const [outcome, expected] of [
      ["refuse", "101002"],
      ["busy", "900001"],
      ["wait", "200010"],
    ] as const) {
      await steer({ on: "query", outcome });
      expect(await code("/esim/query", { orderNo, pager: PAGER })).toBe(expected);
    }
    expect(await code("/esim/query", { orderNo, pager: PAGER })).toBeNull();
  });

  test("usage is asked for at most 10 eSIMs", async () => {
    const { obj, code, bought, phone } = await startEsimaccess();
    const { iccid, esimTranNo } = await bought("t");
    await phone({ iccid, used_mb: 100 });
    expect(await obj("/esim/usage/query", { esimTranNoList: [esimTranNo, "unknown"] })).toEqual({
      esimUsageList: [
        {
          esimTranNo,
          dataUsage: 104_857_600,
          totalData: 1_073_741_824,
          lastUpdateTime: "2026-03-02T09:30:00+0000",
        },
      ],
    });
    expect(await code("/esim/usage/query", { esimTranNoList: Array(11).fill(esimTranNo) })).toBe("000107");
    expect(await code("/esim/usage/query", {})).toBe("000105");
  });
});
