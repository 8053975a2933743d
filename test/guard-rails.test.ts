import { describe, expect, test } from "vitest";
import { updateCredential } from "../src/core/credentials/update.ts";
import { createOrder } from "../src/core/orders/create.ts";
import { guardedShop, key, refusalOf, tokenFrom } from "./support/guarded-shop.ts";
import type { Caller, Platform } from "./support/platform.ts";

describe("spend caps", () => {
  test("hold exactly under 64 parallel orders and in bulk; only midnight gives headroom back", async () => {
    const { platform, live, sandbox, desk, order, bulk, balance } = await guardedShop();
    await platform.fund(live.partnerId, 100_000);
    const caps = `credentials update ${live.clientId}`;
    await desk.json(`${caps} --per-order 5.00 --per-day 20.00`);
    const dear = await order(live, 6);
    expect(refusalOf(dear)).toEqual([403, "spend_cap_exceeded"]);
    expect(dear.body).toMatchObject({ cap: "per_order", cap_cents: 500, spent_cents: 0, resets_at: null });
    const replies = await Promise.all(Array.from({ length: 64 }, () => order(live, 1)));
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(20);
    const [refused] = replies.filter(({ status }) => status !== 201);
    expect(refused?.body).toMatchObject({
      status: 403,
      cap: "per_day",
      currency: "AUD",
      cap_cents: 2_000,
      spent_cents: 2_000,
      required_cents: 100,
      resets_at: "2026-03-03T00:00:00.000Z",
    });
    expect(await balance()).toMatchObject({ balance_cents: 98_000 });
    const [placed] = replies.filter(({ status }) => status === 201);
    await desk.json(`orders cancel ${placed?.body.order_number} --reason x --yes`);
    expect(refusalOf(await order(live, 1))).toEqual([403, "spend_cap_exceeded"]);
    // Orders of the sandbox count apart, and other currencies too.
    expect((await order(sandbox, 50)).status).toBe(201);
    await platform.fund(live.partnerId, 10, "JPY");
    expect((await order(live, 5, key(), "YEN")).status).toBe(201);
    platform.clock.advance(23 * 3_600_000);
    const fresh = await renewed(platform, live);
    const results = await bulk(fresh, [5, 6, 5, 5, 5, 1]);
    const codes = results.map((one: { error?: { code: string } }) => one.error?.code ?? "placed").sort();
    expect(codes.filter((one: string) => one === "spend_cap_exceeded").length).toBeGreaterThanOrEqual(2);
    const { data } = (await fresh.get("/api/v1/credentials")).body;
    const { guard_rails } = data.find(({ client_id }: { client_id: string }) => client_id === live.clientId);
    expect(guard_rails.spend_caps).toEqual([{ currency: null, per_order: "5.00", per_day: "20.00" }]);
    expect(guard_rails.spent_today).toContainEqual({
      currency: "AUD",
      spent_cents: 2_000,
      cap_cents: 2_000,
      resets_at: "2026-03-04T00:00:00.000Z",
    });
  });

  test("a replay is not spent again, and is answered though the cap is used up", async () => {
    const { platform, live, desk, order } = await guardedShop();
    await platform.fund(live.partnerId, 100_000);
    await desk.json(`credentials update ${live.clientId} --per-day 3.00`);
    const first = key();
    expect((await order(live, 2, first)).status).toBe(201);
    expect((await order(live, 2, first)).status).toBe(200);
    expect((await order(live, 1)).status).toBe(201);
    expect(refusalOf(await order(live, 1))).toEqual([403, "spend_cap_exceeded"]);
    expect((await order(live, 2, first)).status).toBe(200);
  });

  test("a cap of the middle of the day counts the day; one of a currency goes before that of all", async () => {
    const { platform, live, sandbox, desk, order } = await guardedShop();
    await platform.fund(live.partnerId, 100_000);
    await platform.fund(live.partnerId, 100_000, "JPY");
    expect((await order(live, 7)).status).toBe(201);
    const caps = `credentials update ${live.clientId}`;
    // At the platform's time, which is another than the terminal's.
    const cap = (perDay: string | null, currency: string | null = null) =>
      platform.store.write(updateCredential, { clientId: live.clientId, perDay, currency, actor: "test" });
    await cap("10.00");
    expect((await order(live, 4)).body).toMatchObject({ spent_cents: 700, cap_cents: 1_000 });
    expect((await order(live, 11, key(), "YEN")).body).toMatchObject({ currency: "JPY", cap_cents: 10 });
    await cap("5000", "JPY");
    expect((await order(live, 11, key(), "YEN")).status).toBe(201);
    // Raised, it goes on from what was spent; taken away, nothing holds any more.
    await cap("12.00");
    expect((await order(live, 5)).status).toBe(201);
    expect((await order(live, 1)).body).toMatchObject({ spent_cents: 1_200, cap_cents: 1_200 });
    await desk.json(`${caps} --per-day none`);
    await desk.json(`${caps} --per-day none --currency JPY`);
    expect((await order(live, 50)).status).toBe(201);
    // The sandbox has caps of its own, so that they can be tried.
    await desk.json(`credentials update ${sandbox.clientId} --per-day 1.00`);
    expect((await order(sandbox, 1)).status).toBe(201);
    expect(refusalOf(await order(sandbox, 1))).toEqual([403, "spend_cap_exceeded"]);
    const audit = await desk.json(`audit list --target ${live.clientId}`);
    expect(audit.data[0]).toMatchObject({ action: "credentials.update", fields: ["spend_caps"] });
    const wrong = await desk.refusal(`${caps} --per-day 1.5 --currency JPY`);
    expect([wrong.exitCode, wrong.code]).toEqual([1, "validation"]);
    expect((await desk.refusal(caps)).exitCode).toBe(2);
  });

  test("set in the middle of a day count orders by the system's time, under a sandbox clock too", async () => {
    const { platform, sandbox, desk, order } = await guardedShop();
    expect((await sandbox.send("POST", "/api/v1/sandbox/clock", { advance: "P2D" })).status).toBe(200);
    expect((await order(sandbox, 3)).status).toBe(201);
    platform.clock.advance(86_400_000);
    await desk.json(`credentials update ${sandbox.clientId} --per-day 3.00`);
    const renewed = (await tokenFrom(platform, sandbox)).body.access_token;
    const headers = { ...key(), authorization: `Bearer ${renewed}` };
    expect((await order(sandbox, 3, headers)).status).toBe(201);
    expect((await order(sandbox, 1, { ...headers, ...key() })).body).toMatchObject({ spent_cents: 300 });
  });

  test("hold over several nodes on one database", async () => {
    const { platform, live, desk, order, products } = await guardedShop();
    await platform.fund(live.partnerId, 100_000);
    await desk.json(`credentials update ${live.clientId} --per-day 9.00`);
    const other = await platform.again();
    const direct = () => {
      const { partnerId, clientId: credential } = live;
      const lines = [{ product_id: products.SIM ?? "", quantity: 1 }];
      const named = { key: { space: "single" as const, value: crypto.randomUUID() }, payloadHash: "x" };
      const rest = { environment: "production" as const, metadata: {}, activationRequests: [], customer: null };
      return other.write(createOrder, { partnerId, credential, lines, ...named, ...rest });
    };
    const here = Array.from({ length: 12 }, () => order(live, 1).then(({ status }) => status === 201));
    const there = Array.from({ length: 12 }, () =>
      direct().then(
        () => true,
        () => false,
      ),
    );
    const placed = (await Promise.all([...here, ...there])).filter((one) => one);
    expect(placed).toHaveLength(9);
  });
});

/** The caller with a token of this moment. */
async function renewed(platform: Platform, caller: Caller): Promise<Caller> {
  const { body } = await tokenFrom(platform, caller);
  const headers = { authorization: `Bearer ${body.access_token}` };
  return {
    ...caller,
    token: body.access_token,
    get: (path, more = {}) => caller.get(path, { ...headers, ...more }),
    send: (method, path, payload, more = {}) => caller.send(method, path, payload, { ...headers, ...more }),
  };
}

describe("addresses and expiry", () => {
  test("other addresses are refused at the token endpoint and at every request; expiry ends a credential", async () => {
    const { platform, live, desk } = await guardedShop({ trustProxy: true });
    const at = (ip: string) => live.get("/api/v1/orders", { "x-forwarded-for": ip });
    const update = (options: string) => desk.json(`credentials update ${live.clientId} ${options}`);
    const { guard_rails } = await update("--ip 203.0.113.7/24,2001:db8::/32");
    expect(guard_rails.addresses).toEqual(["203.0.113.0/24", "2001:db8::/32"]);
    const inside = ["203.0.113.200", "::ffff:203.0.113.200", "2001:db8:77::1", "203.0.114.9, 203.0.113.1"];
    const outside = ["203.0.114.1", "198.51.100.7", "2001:db9::1", "203.0.113.1, 198.51.100.7"];
    for (const ip of inside) {
      expect([ip, (await at(ip)).status, (await tokenFrom(platform, live, ip)).status]).toEqual([ip, 200, 200]);
    }
    for (const ip of outside) {
      expect([ip, ...refusalOf(await at(ip))]).toEqual([ip, 403, "ip_not_allowed"]);
      const refused = await tokenFrom(platform, live, ip);
      expect([ip, refused.status, refused.body.error]).toEqual([ip, 403, "ip_not_allowed"]);
    }
    const guess = await tokenFrom(platform, { ...live, clientSecret: "wrong".repeat(8) }, "198.51.100.7");
    expect(guess.body.error).toBe("invalid_client");
    await update("--ip none");
    expect((await at("198.51.100.7")).status).toBe(200);
    await update("--expires 2026-03-02T01:30:00Z");
    expect((await at("198.51.100.7")).status).toBe(200);
    platform.clock.advance(30 * 60_000);
    expect(refusalOf(await at("198.51.100.7"))).toEqual([401, "unauthorized"]);
    expect((await tokenFrom(platform, live)).body.error).toBe("invalid_client");
    await update("--expires none");
    expect((await at("198.51.100.7")).status).toBe(200);
    for (const wrong of ["10.1/16", "203.0.113.0/33", "2001:db8::/129", "example.com", "010.0.0.1"]) {
      const refused = await desk.refusal(`credentials update ${live.clientId} --ip ${wrong}`);
      expect([wrong, refused.code]).toEqual([wrong, "validation"]);
    }
  });
});
