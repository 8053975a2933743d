import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { simulateAiralo } from "../src/daemon/simulators/airalo.ts";
import { signedInAiralo } from "./support/providers/airalo-caller.ts";

describe("eSIMs", () => {
  test("are listed and shown with their order", async () => {
    const { order, send } = await signedInAiralo();
    const { data } = (await order({ description: "ref" })).body;
    const [{ iccid }] = data.sims;
    const listed = await send(`/sims?filter[iccid]=${iccid}&include=order,order.status,order.user,share`);
    expect(listed.body).toMatchObject({
      ...{ meta: { total: 1 } },
      data: [{ ...data.sims[0], recycled: false, recycled_at: null, simable: { id: data.id, description: "ref" } }],
    });
    expect(listed.body.data[0].simable).toMatchObject({
      user: { id: 120 },
      status: { slug: "completed" },
      sharing: {},
    });
    expect((await send(`/sims/${iccid}`)).body.data).not.toHaveProperty("simable");
    for (const path of ["", "/usage", "/packages", "/topups"]) {
      expect(await send(`/sims/8900000000000000001${path}`)).toMatchObject({
        ...{ status: 404, body: { data: [], meta: { message: "messages.resource_not_found" } } },
      });
    }
  });

  test("show what is played: use, the end of an allowance, and time", async () => {
    const { clock, order, send, signIn, provider } = await signedInAiralo();
    const [{ iccid }] = (await order()).body.data.sims;
    const usage = async () => (await send(`/sims/${iccid}/usage`)).body.data;
    const play = (played: object) => provider.play({ iccid, ...played }, clock.now());
    const unused = { remaining: 1024, total: 1024, expired_at: null, status: "NOT_ACTIVE", is_unlimited: false };
    expect(await usage()).toEqual({ ...unused, remaining_voice: 0, total_voice: 0, remaining_text: 0, total_text: 0 });
    // An installation shows nowhere.
    play({ state: "installed" });
    play({ state: "enabled" });
    expect(await usage()).toMatchObject(unused);
    play({ used_mb: 24 });
    expect(await usage()).toMatchObject({ remaining: 1000, status: "ACTIVE", expired_at: "2026-03-09 09:30:00" });
    play({ state: "suspended" });
    expect((await usage()).status).toBe("UNKNOWN");
    clock.advance(60_000);
    play({ state: "in_use" });
    expect((await usage()).status).toBe("ACTIVE");
    play({ used_mb: 1024 });
    expect(await usage()).toMatchObject({ remaining: 0, status: "FINISHED" });
    expect((await send(`/sims/${iccid}/packages`)).body.data).toMatchObject([
      {
        ...{ status: "FINISHED", remaining: 0, activated_at: "2026-03-02T09:30:00+00:00" },
        ...{
          finished_at: "2026-03-02T09:31:00+00:00",
          package: { id: "hinode-7days-1gb", type: "sim", net_price: 3.6 },
        },
      },
    ]);
    play({ used_mb: 100 });
    clock.advance(7 * 24 * 3_600_000);
    await signIn();
    expect(await usage()).toMatchObject({ remaining: 924, status: "EXPIRED" });
    play({ state: "deleted" });
    const gone = { remaining: 0, total: 0, expired_at: null, is_unlimited: null, status: "RECYCLED" };
    expect(await usage()).toMatchObject(gone);
    expect((await send(`/sims/${iccid}`)).body.data).toMatchObject({ recycled: true, recycled_at: expect.any(String) });
    expect(provider.play({ iccid: "8900000000000000001", used_mb: 1 }, clock.now())).toBeNull();
  });

  test("of an unlimited package say 0", async () => {
    const { order, send, provider, clock } = await signedInAiralo();
    const [{ iccid }] = (await order({ package_id: "hinode-unlimited-7days" })).body.data.sims;
    expect(provider.play({ iccid, used_mb: 90_000 }, clock.now())).toEqual([]);
    expect((await send(`/sims/${iccid}/usage`)).body.data).toMatchObject({
      ...{ remaining: 0, total: 0, is_unlimited: true, status: "ACTIVE", expired_at: "2026-03-09 09:30:00" },
    });
  });

  test("show their use ten times a minute each, and five times a second in all", async () => {
    const { clock, order, send } = await signedInAiralo();
    const [one, other] = (await order({ quantity: "2" })).body.data.sims;
    const usage = async ({ iccid }: { iccid: string }) => (await send(`/sims/${iccid}/usage`)).status;
    const history = async ({ iccid }: { iccid: string }) => (await send(`/sims/${iccid}/packages`)).status;
    const times = async (count: number, ask: () => Promise<number>) => {
      const statuses: number[] = [];
      for (let request = 0; request < count; request++) statuses.push(await ask());
      return statuses;
    };
    expect(await times(6, () => usage(one))).toEqual([200, 200, 200, 200, 200, 429]);
    expect(await usage(other)).toBe(429);
    clock.advance(1000);
    expect(await times(6, () => usage(one))).toEqual([200, 200, 200, 200, 200, 429]);
    clock.advance(1000);
    expect([await usage(one), await usage(other)]).toEqual([429, 200]);
    expect(await times(11, () => history(one))).toEqual([...Array(10).fill(200), 429]);
    expect(await history(other)).toBe(200);
  });
});

describe("top-ups", () => {
  test("fit their operator's eSIMs and are orders of their own", async () => {
    const { order, topUp, orders, send, provider, clock } = await signedInAiralo();
    const [{ iccid }] = (await order()).body.data.sims;
    provider.play({ iccid, state: "used_up" }, clock.now());
    const list = (await send(`/sims/${iccid}/topups`)).body;
    expect(list.data[0]).toMatchObject({ id: "hinode-7days-1gb-topup", type: "topup", net_price: 3.6, amount: 1024 });
    const { body } = await topUp(iccid, { description: "more-1" });
    expect(body.data).toMatchObject({ type: "topup", description: "more-1", quantity: 1, net_price: 3.6 });
    expect(body.data).not.toHaveProperty("sims");
    expect((await orders("&filter[description]=more-1")).data).toMatchObject([{ id: body.data.id, type: "topup" }]);
    expect((await send(`/sims/${iccid}/usage`)).body.data).toMatchObject({ status: "ACTIVE", remaining: 1024 });
    const { data } = (await send(`/sims/${iccid}/packages`)).body;
    expect(data.map((one: { status: string }) => one.status)).toEqual(["ACTIVE", "FINISHED"]);
    expect(provider.state()).toEqual({ bought: 2, balance: "992.8000" });
  });

  test("are refused by field and by code", async () => {
    const { order, topUp, send, form, provider, clock } = await signedInAiralo();
    const [{ iccid }] = (await order()).body.data.sims;
    const invalid = { status: 422, body: { data: { package_id: "invalid topup package" } } };
    expect(await topUp(iccid, { package_id: "prairie-mobile-7days-1gb-topup" })).toMatchObject(invalid);
    expect(await topUp(iccid, { package_id: "hinode-7days-1gb" })).toMatchObject(invalid);
    expect((await topUp("8900000000000000001")).body.data).toHaveProperty("iccid");
    expect((await send("/orders/topups", form({}))).body.data).toEqual({
      ...{ iccid: "The iccid field is required.", package_id: "The package id field is required." },
    });
    expect((await topUp(iccid, { package_id: "test-disabled-top-up-7days-1gb" })).body.code).toBe(23);
    provider.play({ iccid, state: "deleted" }, clock.now());
    const recycled = { status: 422, body: { code: 73, reason: expect.stringContaining(iccid) } };
    expect(await topUp(iccid)).toMatchObject(recycled);
    expect(await send(`/sims/${iccid}/topups`)).toMatchObject(recycled);
    const [turkish] = (await order({ package_id: "bosporus-7days-1gb" })).body.data.sims;
    expect((await send(`/sims/${turkish.iccid}/topups`)).body).toEqual({ data: [] });
  });
});

describe("refunds", () => {
  test("are asked for, and nothing is paid back", async () => {
    const { order, send, form, provider } = await signedInAiralo();
    const sims: { iccid: string }[] = (await order({ quantity: "2" })).body.data.sims;
    const iccids = sims.map(({ iccid }) => iccid);
    const { status, body } = await send("/refund", form({ "iccids[]": iccids, reason: "NO_COVERAGE" }));
    expect([status, body]).toEqual([
      202,
      { data: { refund_id: expect.any(String), created_at: "2026-03-02 09:30" }, meta: { message: "success" } },
    ]);
    expect(provider.state()).toEqual({ bought: 2, balance: "992.8000" });
  });

  test("are refused where the request is not in order", async () => {
    const { clock, order, send, form, json } = await signedInAiralo();
    const [{ iccid }] = (await order()).body.data.sims;
    const refund = (fields: Record<string, string | string[]>) => {
      clock.advance(60_000);
      return send("/refund", form({ "iccids[]": iccid, reason: "OTHERS", ...fields }));
    };
    expect((await refund({ notes: "n" })).status).toBe(202);
    expect((await refund({})).body.data).toHaveProperty("notes");
    expect((await refund({ notes: "n".repeat(256) })).body.data).toHaveProperty("notes");
    expect((await refund({ reason: "BORED" })).body.data.reason).toContain("INSTALLATION_FAILURE, NO_COVERAGE");
    expect(await refund({ "iccids[]": ["8900000000000000001"], notes: "n" })).toMatchObject({
      ...{ status: 422, body: { data: [], meta: { message: expect.stringContaining("8900000000000000001") } } },
    });
    expect((await refund({ "iccids[]": Array(6).fill(iccid), notes: "n" })).status).toBe(422);
    expect((await send("/refund", json({ iccids: [iccid], reason: "NO_COVERAGE" }))).body.meta.message).toBe(
      "The iccids field is required.",
    );
  });

  test("are taken five times a minute", async () => {
    const { send, form } = await signedInAiralo();
    for (let request = 0; request < 5; request++) expect((await send("/refund", form({}))).status).toBe(422);
    expect((await send("/refund", form({}))).status).toBe(429);
  });
});

describe("notices of low data", () => {
  const type = "webhook_low_data";

  test("go where the account opted in, each level once, signed over the bytes", async () => {
    const { clock, order, send, json, provider } = await signedInAiralo();
    const [{ iccid }] = (await order()).body.data.sims;
    const notification = { type, contact_point: "http://127.0.0.1:9/hook" };
    const opted = await send("/notifications/opt-in", json({ type, webhook_url: notification.contact_point }));
    expect(opted).toMatchObject({ status: 200, body: { data: { notification } } });
    expect((await send("/notifications/opt-in")).body.data).toEqual({ notification });
    const play = (used_mb: number) => provider.play({ iccid, used_mb }, clock.now()) ?? [];
    expect(play(767)).toEqual([]);
    const [notice, ...more] = play(768);
    expect(more).toEqual([]);
    expect(notice?.url).toBe(notification.contact_point);
    const read: unknown = JSON.parse(notice?.body ?? "");
    expect(read).toEqual({ level: "75%", package_name: "hinode-7days-1gb", remaining_percentage: 25, iccid });
    const signature = createHmac("sha512", "DEMO_CLIENT_SECRET").update(notice?.body ?? "");
    expect(notice?.headers["airalo-signature"]).toBe(signature.digest("hex"));
    expect(play(800)).toEqual([]);
    expect(play(1000).map(({ body }) => JSON.parse(body).level)).toEqual(["90%"]);
    expect(play(1024)).toEqual([]);
  });

  test("end with the opt-out, and follow what notify says", async () => {
    const { clock, order, send, json, provider } = await signedInAiralo();
    const sims: { iccid: string }[] = (await order({ quantity: "3" })).body.data.sims;
    const notices = (at: number) => provider.play({ iccid: sims[at]?.iccid ?? "", state: "used_up" }, clock.now());
    provider.notify("http://127.0.0.1:9/other");
    expect(notices(0)?.map(({ url }) => url)).toEqual(Array(2).fill("http://127.0.0.1:9/other"));
    expect((await send("/notifications/opt-out", json({ type }))).status).toBe(204);
    expect((await send("/notifications/opt-in")).body.data).toEqual([]);
    expect(notices(1)).toEqual([]);
    expect((await send("/notifications/opt-in", json({ type: "everything" }))).status).toBe(422);
    expect((await send("/notifications/opt-in", json({ type }))).body.data).toHaveProperty("webhook_url");
    expect((await send("/notifications/opt-in", json({ type: "email_low_data", email: "a@b.example" }))).status).toBe(
      200,
    );
    provider.notify(null);
    expect(notices(2)).toEqual([]);
  });
});

describe("steering", () => {
  test.each([
    ["refuse", { code: 33, reason: expect.any(String) }],
    ["busy", { code: 53, reason: expect.any(String) }],
  ] as const)("an order with %s is not made", async (outcome, body) => {
    const { steer, order, orders, provider } = await signedInAiralo();
    await steer({ on: "order", outcome, delay_ms: 0 });
    expect(await order()).toMatchObject({ status: 422, body });
    expect((await orders()).data).toEqual([]);
    expect(provider.state()).toEqual({ bought: 0, balance: "1000.0000" });
    expect((await order()).status).toBe(200);
  });

  test("an order that waits is answered, and listed later", async () => {
    const { clock, steer, order, orders, send } = await signedInAiralo();
    await steer({ on: "order", outcome: "wait", delay_ms: 5_000 });
    const { body } = await order();
    expect(body.data.sims).toHaveLength(1);
    expect((await orders()).data).toEqual([]);
    expect((await send("/sims")).body.data).toEqual([]);
    clock.advance(5_000);
    expect((await orders()).data).toMatchObject([{ id: body.data.id }]);
  });

  test("lists that wait leave out what is young from then on", async () => {
    const { clock, steer, order, orders } = await signedInAiralo();
    await order();
    await steer({ on: "query", outcome: "wait", delay_ms: 3_000 });
    expect((await orders()).data).toEqual([]);
    clock.advance(3_000);
    await order({ description: "young" });
    expect((await orders()).data).toHaveLength(1);
    clock.advance(3_000);
    expect((await orders()).data).toHaveLength(2);
  });

  test("top-ups, refunds and look-ups end as steered", async () => {
    const { steer, order, orders, topUp, send, form, provider } = await signedInAiralo();
    const [{ iccid }] = (await order()).body.data.sims;
    const refund = () => send("/refund", form({ "iccids[]": iccid, reason: "NO_COVERAGE" }));
    await steer({ on: "topup", outcome: "refuse", delay_ms: 0 });
    expect(await topUp(iccid)).toMatchObject({ status: 422, body: { code: 23 } });
    await steer({ on: "topup", outcome: "busy", delay_ms: 0 });
    expect(await topUp(iccid)).toMatchObject({ status: 422, body: { code: 53 } });
    await steer({ on: "topup", outcome: "wait", delay_ms: 1_000 });
    expect((await topUp(iccid)).status).toBe(200);
    expect((await orders()).data).toHaveLength(1);
    await steer({ on: "cancel", outcome: "refuse", delay_ms: 0 });
    expect(await refund()).toMatchObject({ status: 422, body: { data: [] } });
    await steer({ on: "cancel", outcome: "busy", delay_ms: 0 });
    expect(await refund()).toMatchObject({ status: 422, body: { code: 53 } });
    await steer({ on: "query", outcome: "busy", delay_ms: 0 });
    expect(await send(`/sims/${iccid}/usage`)).toMatchObject({ status: 422, body: { code: 53 } });
    expect(provider.state().bought).toBe(2);
  });

  test("names the kinds of calls", () => {
    const { callOf } = simulateAiralo();
    const call = (method: string, path: string) =>
      callOf({ method, path, query: new URLSearchParams(), body: Buffer.alloc(0) });
    expect([call("POST", "/orders"), call("POST", "/orders/topups"), call("POST", "/refund")]).toEqual([
      ...["order", "topup", "cancel"],
    ]);
    expect([call("GET", "/orders"), call("GET", "/orders/7"), call("GET", "/sims/89/usage")]).toEqual(
      Array(3).fill("query"),
    );
    expect([call("POST", "/token"), call("GET", "/packages"), call("GET", "/none")]).toEqual(Array(3).fill(null));
  });

  test("a reset forgets all but what numbers are taken", async () => {
    const { order, provider, send, signIn } = await signedInAiralo();
    const [before] = (await order()).body.data.sims;
    provider.reset();
    expect(provider.state()).toEqual({ bought: 0, balance: "1000.0000" });
    expect((await send("/orders")).status).toBe(401);
    await signIn();
    expect((await send("/orders")).body.data).toEqual([]);
    const [after] = (await order()).body.data.sims;
    expect(after.iccid).not.toBe(before.iccid);
  });
});
