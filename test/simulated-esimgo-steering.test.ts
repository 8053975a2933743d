import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { ProviderCallback } from "../src/daemon/simulators/provider.ts";
import { BRITAIN, FRANCE, openEsimgo, START } from "./support/providers/esimgo-service.ts";

describe("callbacks", () => {
  const URL_ = "http://127.0.0.1:9/hooks";
  const typeOf = ({ body }: ProviderCallback) => JSON.parse(body).alertType;

  test("first attachment, first use and each share of use, once", async () => {
    const { provider, play, newEsim } = await openEsimgo();
    const iccid = await newEsim();
    provider.notify(URL_);
    expect(play({ iccid, state: "installed" })).toEqual([]);
    expect(play({ iccid, state: "enabled" }).map(typeOf)).toEqual(["FirstAttachment"]);
    expect(play({ iccid, used_mb: 100 }).map(typeOf)).toEqual(["FirstUse"]);
    expect(play({ iccid, used_mb: 850 }).map(typeOf)).toEqual(["Utilisation", "Utilisation"]);
    expect(play({ iccid, used_mb: 850 })).toEqual([]);
    const [last] = play({ iccid, state: "used_up" });
    expect(JSON.parse(last?.body ?? "")).toMatchObject({
      iccid,
      alertType: "Utilisation",
      bundle: { name: BRITAIN, initialQuantity: 1_000_000_000, remainingQuantity: 0, unlimited: false },
    });
    expect(last?.url).toBe(URL_);
  });

  test("first use has the ICCID as a bare number", async () => {
    const { provider, play, newEsim } = await openEsimgo();
    const iccid = await newEsim();
    provider.notify(URL_);
    const [, use] = play({ iccid, state: "in_use" });
    expect(use?.body).toContain(`{"iccid":${iccid},"alertType":"FirstUse"`);
  });

  test.each(["base64", "hex"] as const)("are signed over the raw body in %s", async (signature) => {
    const { provider, play, newEsim } = await openEsimgo(signature === "base64" ? {} : { signature });
    const iccid = await newEsim();
    provider.notify(URL_);
    const [notice] = play({ iccid, state: "enabled" });
    const expected = createHmac("sha256", "demo-api-key")
      .update(notice?.body ?? "")
      .digest(signature);
    expect(notice?.headers["x-signature-sha256"]).toBe(expected);
  });

  test("go nowhere without an address, and an unknown eSIM is none", async () => {
    const { provider, play, newEsim } = await openEsimgo();
    const iccid = await newEsim();
    expect(play({ iccid, state: "enabled" })).toEqual([]);
    expect(provider.play({ iccid: "8944538500000000000", state: "enabled" }, START)).toBeNull();
  });
});

describe("steering", () => {
  test("what falls under which call", async () => {
    const { provider } = await openEsimgo();
    const callOf = (method: string, target: string, body?: unknown) => {
      const { pathname, searchParams } = new URL(target, "http://loopback");
      const bytes = Buffer.from(body === undefined ? "" : JSON.stringify(body));
      return provider.callOf({ method, path: pathname, query: searchParams, body: bytes });
    };
    const line = { type: "bundle", item: BRITAIN, quantity: 1 };
    const lines = (more: object) => ({ type: "transaction", assign: true, order: [{ ...line, ...more }] });
    expect(callOf("POST", "/orders", lines({}))).toBe("order");
    expect(callOf("POST", "/orders", lines({ iccids: ["8944"] }))).toBe("topup");
    expect(callOf("POST", "/orders", { ...lines({}), type: "validate" })).toBeNull();
    expect(callOf("POST", "/orders", "not an order")).toBe("order");
    expect(callOf("POST", "/esims/apply", { name: BRITAIN })).toBe("order");
    expect(callOf("POST", "/esims/apply", { name: BRITAIN, iccid: "8944" })).toBe("topup");
    expect(callOf("POST", "/inventory/refund", {})).toBe("cancel");
    expect(callOf("DELETE", `/esims/8944/bundles/${BRITAIN}/assignments/1`)).toBe("cancel");
    expect(callOf("DELETE", `/esims/8944/bundles/${BRITAIN}?type=validate`)).toBeNull();
    for (const path of ["/orders", "/inventory", "/esims/8944", "/esims/assignments"]) {
      expect(callOf("GET", path)).toBe("query");
    }
    for (const path of ["/catalogue", "/organisation", "/networks"]) expect(callOf("GET", path)).toBeNull();
  });

  test("a refusal is 400 and busy is 503; nothing is done", async () => {
    const { steer, buy, send, provider, newEsim } = await openEsimgo();
    await steer({ on: "order", outcome: "refuse" });
    expect(await buy(BRITAIN)).toMatchObject({ status: 400, json: { message: "out of stock" } });
    await steer({ on: "order", outcome: "busy" });
    const busy = await buy(BRITAIN);
    expect([busy.status, busy.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(provider.state().bought).toBe(0);
    const iccid = await newEsim();
    await steer({ on: "topup", outcome: "refuse" });
    expect((await buy(FRANCE, { iccids: [iccid] }, true)).status).toBe(400);
    await steer({ on: "cancel", outcome: "refuse" });
    expect((await send("DELETE", `/esims/${iccid}/bundles/${BRITAIN}`)).status).toBe(400);
    await steer({ on: "query", outcome: "busy" });
    expect((await send("GET", "/orders")).status).toBe(503);
    expect(provider.state().bought).toBe(1);
  });

  test("an order that waits is done, answered 503, and listed later", async () => {
    const { steer, buy, get, provider, advance } = await openEsimgo();
    await steer({ on: "order", outcome: "wait", delay_ms: 2_000 });
    const { status, json } = await buy(BRITAIN);
    expect([status, Object.keys(json)]).toEqual([503, ["message"]]);
    expect(provider.state()).toEqual({ bought: 1, balance: "998.6000" });
    const seen = async () => [(await get("/orders")).length, (await get("/inventory")).bundles.length];
    advance(1_999);
    expect(await seen()).toEqual([1, 0]);
    advance(1);
    expect(await seen()).toEqual([2, 1]);
  });

  test("an apply that waits leaves the inventory and shows its eSIM later", async () => {
    const { steer, buy, get, send, advance } = await openEsimgo();
    await buy(BRITAIN);
    await steer({ on: "order", outcome: "wait", delay_ms: 2_000 });
    expect((await send("POST", "/esims/apply", { name: BRITAIN })).status).toBe(503);
    const seen = async () => [(await get("/inventory")).bundles.length, (await get("/esims")).rows];
    expect(await seen()).toEqual([1, 0]);
    expect((await send("POST", "/esims/apply", { name: BRITAIN })).status).toBe(403);
    advance(2_000);
    expect(await seen()).toEqual([0, 1]);
  });

  test("a top-up that waits shows on the eSIM later", async () => {
    const { steer, buy, newEsim, states, advance } = await openEsimgo();
    const iccid = await newEsim();
    await steer({ on: "topup", outcome: "wait", delay_ms: 2_000 });
    expect((await buy(FRANCE, { iccids: [iccid] }, true)).status).toBe(503);
    expect(await states(iccid)).toHaveLength(1);
    advance(2_000);
    expect(await states(iccid)).toHaveLength(2);
  });

  test("a query that waits leaves out what is young", async () => {
    const { steer, buy, get, send, advance } = await openEsimgo();
    await buy(BRITAIN);
    advance(5_000);
    const { json } = await buy(BRITAIN, {}, true);
    await steer({ on: "query", outcome: "wait", delay_ms: 2_000 });
    expect(await get("/orders")).toHaveLength(2);
    await steer({ on: "query", outcome: "wait", delay_ms: 2_000 });
    expect((await send("GET", `/esims/${json.order[0].iccids[0]}`)).status).toBe(503);
    expect(await get("/orders")).toHaveLength(3);
  });

  test("a reset forgets everything", async () => {
    const { provider, buy, get } = await openEsimgo();
    await buy(BRITAIN, {}, true);
    provider.reset();
    expect(provider.state()).toEqual({ bought: 0, balance: "1000.0000" });
    expect([(await get("/orders")).length, (await get("/esims")).rows]).toEqual([1, 0]);
  });
});
