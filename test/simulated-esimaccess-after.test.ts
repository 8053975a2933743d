import { describe, expect, test } from "vitest";
import { eidValid } from "../src/core/kernel/check-digits.ts";
import { startEsimaccess } from "./support/providers/esimaccess.ts";
import { startReceiver } from "./support/receiver.ts";

// What can be done with an eSIM that was bought, and what the provider sends by itself.

describe("a top-up", () => {
  test.each(["same", "refused"] as const)("adds data and days, once a transactionId; again: %s", async (repeats) => {
    const { call, bought, rows, balance } = await startEsimaccess({ repeats });
    const { iccid, esimTranNo } = await bought("t");
    const body = { esimTranNo, packageCode: "TOPUP_CJP103", transactionId: "up-1", amount: 17_500 };
    const first = await call("/esim/topup", body);
    expect(first.obj).toMatchObject({
      transactionId: "up-1",
      iccid,
      totalVolume: 4 * 1_073_741_824,
      totalDuration: 22,
      orderUsage: 0,
    });
    const again = await call("/esim/topup", body);
    expect(again).toEqual(repeats === "same" ? first : expect.objectContaining({ errorCode: "310402" }));
    expect(await balance()).toBe(10_000_000 - 7_000 - 17_500);
    expect((await rows({ esimTranNo }))[0]).toMatchObject({
      totalVolume: 4 * 1_073_741_824,
      packageList: [{ transactionId: "t" }, { transactionId: "up-1", packageCode: "TOPUP_CJP103", duration: 15 }],
    });
  });

  test("revives one that is depleted; never one that is expired, and only by what fits", async () => {
    const { code, bought, phone, rows, clock } = await startEsimaccess();
    const { iccid, esimTranNo } = await bought("t");
    const body = { esimTranNo, packageCode: "TOPUP_CJP101", transactionId: "up-1" };
    const { iccid: fixed } = await bought("t2", "CGB103");
    const wrong: [code: string, body: Record<string, unknown>][] = [
      ["310241", { ...body, packageCode: "CUS101_" }],
      ["310243", { ...body, packageCode: "TOPUP_CUS101" }],
      ["310403", { ...body, esimTranNo: "1" }],
      ["000105", { ...body, esimTranNo: "" }],
      ["000105", { esimTranNo, packageCode: "TOPUP_CJP101" }],
      ["200006", { ...body, amount: 1 }],
      ["200008", { ...body, packageCode: "TOPUP_DJP1" }],
      ["200002", { ...body, esimTranNo: "", iccid: fixed }],
    ];
    for (const [expected, one] of wrong) expect(await code("/esim/topup", one), JSON.stringify(one)).toBe(expected);
    await phone({ iccid, state: "used_up" });
    expect((await rows({ esimTranNo }))[0].esimStatus).toBe("USED_UP");
    expect(await code("/esim/topup", body)).toBeNull();
    expect((await rows({ esimTranNo }))[0].esimStatus).toBe("IN_USE");
    clock.advance(14 * 86_400_000);
    expect((await rows({ esimTranNo }))[0].esimStatus).toBe("USED_EXPIRED");
    expect(await code("/esim/topup", { ...body, transactionId: "up-2" })).toBe("200002");
  });

  test("steered: refused, busy, lost, and shown later", async () => {
    const { code, bought, rows, steer, balance, clock } = await startEsimaccess();
    const { esimTranNo } = await bought("t");
    const body = { esimTranNo, packageCode: "TOPUP_CJP101", transactionId: "up-1" };
    await steer({ on: "topup", outcome: "refuse" });
    expect(await code("/esim/topup", body)).toBe("200002");
    await steer({ on: "topup", outcome: "busy" });
    expect(await code("/esim/topup", body)).toBe("900001");
    expect(await balance()).toBe(9_993_000);
    await steer({ on: "topup", outcome: "lost" });
    await expect(code("/esim/topup", body)).rejects.toThrow();
    expect((await rows({ esimTranNo }))[0].packageList).toHaveLength(2);
    await steer({ on: "topup", outcome: "wait", delay_ms: 5_000 });
    expect(await code("/esim/topup", { ...body, transactionId: "up-2" })).toBeNull();
    expect((await rows({ esimTranNo }))[0].packageList).toHaveLength(2);
    clock.advance(5_000);
    expect((await rows({ esimTranNo }))[0]).toMatchObject({ totalDuration: 21, packageList: { length: 3 } });
    expect(await balance()).toBe(9_979_000);
  });
});

describe("cancel, suspend, revoke", () => {
  test("only an unused eSIM is taken back, once, and its price returns", async () => {
    const { code, bought, rows, balance, counts, phone, steer } = await startEsimaccess();
    const unused = await bought("t1");
    const used = await bought("t2");
    await phone({ iccid: used.iccid, state: "installed" });
    expect(await code("/esim/cancel", { iccid: used.iccid })).toBe("200002");
    await steer({ on: "cancel", outcome: "refuse" });
    expect(await code("/esim/cancel", { esimTranNo: unused.esimTranNo })).toBe("200002");
    await steer({ on: "cancel", outcome: "busy" });
    expect(await code("/esim/cancel", { esimTranNo: unused.esimTranNo })).toBe("900001");
    expect(await code("/esim/cancel", { esimTranNo: unused.esimTranNo })).toBeNull();
    expect(await code("/esim/cancel", { esimTranNo: unused.esimTranNo })).toBe("200002");
    expect((await rows({ iccid: unused.iccid }))[0].esimStatus).toBe("CANCEL");
    expect([await balance(), (await counts()).bought]).toEqual([9_993_000, 1]);
    await expect(phone({ iccid: unused.iccid })).rejects.toThrow(/404/);
    expect(await code("/esim/cancel", {})).toBe("000105");
  });

  test("steered to wait, a cancel is shown later; the money is back at once", async () => {
    const { code, bought, rows, balance, steer, clock } = await startEsimaccess();
    const { esimTranNo } = await bought("t");
    await steer({ on: "cancel", outcome: "wait", delay_ms: 5_000 });
    expect(await code("/esim/cancel", { esimTranNo })).toBeNull();
    expect(await balance()).toBe(10_000_000);
    expect((await rows({ esimTranNo }))[0].esimStatus).toBe("GOT_RESOURCE");
    expect(await code("/esim/cancel", { esimTranNo })).toBe("200002");
    clock.advance(5_000);
    expect((await rows({ esimTranNo }))[0].esimStatus).toBe("CANCEL");
  });

  test("suspension is taken back, revocation is not", async () => {
    const { code, bought, rows, balance } = await startEsimaccess();
    const { esimTranNo } = await bought("t");
    const status = async () => (await rows({ esimTranNo }))[0].esimStatus;
    expect(await code("/esim/unsuspend", { esimTranNo })).toBe("200002");
    expect([await code("/esim/suspend", { esimTranNo }), await status()]).toEqual([null, "SUSPENDED"]);
    expect(await code("/esim/suspend", { esimTranNo })).toBe("200002");
    expect([await code("/esim/unsuspend", { esimTranNo }), await status()]).toEqual([null, "GOT_RESOURCE"]);
    expect([await code("/esim/revoke", { esimTranNo }), await status()]).toEqual([null, "REVOKED"]);
    expect(await code("/esim/cancel", { esimTranNo })).toBe("200002");
    expect(await balance()).toBe(9_993_000);
  });
});

describe("notices", () => {
  test("an address is saved once it answered a health check", async () => {
    const { code, obj } = await startEsimaccess();
    const receiver = await startReceiver(500);
    expect(await obj("/webhook/query")).toEqual({ webhook: "" });
    expect(await code("/webhook/save", { webhook: receiver.url })).toBe("400001");
    expect(await obj("/webhook/query")).toEqual({ webhook: "" });
    receiver.answers(200);
    expect(await code("/webhook/save", { webhook: receiver.url })).toBeNull();
    expect(await obj("/webhook/query")).toEqual({ webhook: receiver.url });
    expect(receiver.received[1]?.json).toMatchObject({
      notifyType: "CHECK_HEALTH",
      content: { orderStatus: "Test" },
    });
    expect(await code("/webhook/save", { webhook: "mailto:x@example.com" })).toBe("000107");
  });

  test("an order that is ready, and a phone from download to expiry", async () => {
    const { order, rows, phone, url, clock } = await startEsimaccess();
    const receiver = await startReceiver();
    const body = JSON.stringify({ url: receiver.url });
    await fetch(`${url}/_simulate/callbacks`, { method: "POST", body });
    const { orderNo } = (await order("t", "CJP101", 2)).obj;
    await receiver.got(1);
    expect(receiver.received[0]?.json).toEqual({
      notifyType: "ORDER_STATUS",
      eventGenerateTime: "2026-03-02T09:30:00+0000",
      notifyId: expect.stringMatching(/^[0-9a-f]{32}$/),
      content: { orderNo, transactionId: "t", orderStatus: "GOT_RESOURCE" },
    });
    const [, { iccid, esimTranNo }] = await rows({ orderNo });
    const notices = async (played: Parameters<typeof phone>[0]) => {
      const before = receiver.received.length;
      await phone(played);
      return receiver.received.slice(before).map(({ json }) => json);
    };
    const types = async (played: Parameters<typeof phone>[0]) =>
      (await notices(played)).map(({ notifyType, content: { smdpStatus, esimStatus, remainThreshold, remain } }) =>
        [notifyType, smdpStatus, esimStatus, remainThreshold ?? remain].filter((one) => one !== undefined).join(" "),
      );
    const installed = await notices({ iccid, state: "installed" });
    expect(installed.map(({ content }) => content)).toMatchObject([
      { iccid, esimTranNo, orderNo, transactionId: "t-1-2", smdpStatus: "DOWNLOAD", esimStatus: "GOT_RESOURCE" },
      { iccid, smdpStatus: "INSTALLATION" },
    ]);
    expect(eidValid(installed[0].content.eid)).toBe(true);
    expect(await types({ iccid, state: "enabled" })).toEqual(["SMDP_EVENT ENABLED GOT_RESOURCE"]);
    expect(await types({ iccid, state: "enabled" })).toEqual([]);
    expect(await types({ iccid, used_mb: 600 })).toEqual(["DATA_USAGE 0.5", "ESIM_STATUS ENABLED IN_USE"]);
    expect((await rows({ iccid }))[0]).toMatchObject({
      esimStatus: "IN_USE",
      orderUsage: 629_145_600,
      activateTime: "2026-03-02T09:30:00+0000",
      expiredTime: "2026-03-09T09:30:00+0000",
    });
    expect(await types({ iccid, used_mb: 1_000 })).toEqual(["DATA_USAGE 0.2", "DATA_USAGE 0.1"]);
    expect(await types({ iccid, state: "used_up" })).toEqual(["ESIM_STATUS ENABLED USED_UP"]);
    expect(await types({ iccid, state: "suspended" })).toEqual(["ESIM_STATUS ENABLED SUSPENDED"]);
    expect(await types({ iccid, state: "deleted" })).toEqual(["SMDP_EVENT DELETED SUSPENDED"]);
    clock.advance(86_400_000);
    expect(await types({ iccid, state: "expired" })).toEqual(["VALIDITY_USAGE 1", "ESIM_STATUS DELETED USED_EXPIRED"]);
    expect(await types({ iccid, state: "in_use" })).toEqual([]);
    const ids = receiver.received.map(({ json }) => json.notifyId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("each of a repeated notice has the same id; one that never came into use expires unused", async () => {
    const { bought, phone, url, rows } = await startEsimaccess();
    const { iccid } = await bought("t");
    const receiver = await startReceiver();
    await fetch(`${url}/_simulate/callbacks`, { method: "POST", body: JSON.stringify({ url: receiver.url }) });
    expect(await phone({ iccid, state: "expired", repeat: true })).toEqual([200, 200]);
    const [one, other] = receiver.received.map(({ body }) => body);
    expect(one).toBe(other);
    expect((await rows({ iccid }))[0].esimStatus).toBe("UNUSED_EXPIRED");
  });
});
