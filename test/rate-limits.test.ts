import { Type } from "typebox";
import { describe, expect, it } from "vitest";
import { revokeCredential } from "../src/core/credentials/revoke.ts";
import { updatePartner } from "../src/core/partners/update.ts";
import type { RoutePlugin } from "../src/daemon/context/fastify.ts";
import { acceptForms } from "../src/daemon/plugins/bodies.ts";
import { testClock } from "./support/clock.ts";
import { knownTokens, startServer } from "./support/http.ts";
import { type Caller, call, startPlatform } from "./support/platform.ts";

const routes: RoutePlugin[] = [
  (app) => {
    app.get("/mine", { config: { scope: "read:orders" } }, async () => ({}));
    app.get("/open", { config: { public: true } }, async () => ({}));
  },
  (app) => {
    acceptForms(app);
    const body = Type.Object({ client_id: Type.Optional(Type.String()) });
    const config = { public: true, errorShape: "oauth", rateLimit: "token" } as const;
    app.post("/token", { config, schema: { body } }, async () => ({}));
  },
];
const authenticate = knownTokens({
  ann: { ratePerMinute: 3 },
  ben: { ratePerMinute: 300 },
  reader: { scopes: [], ratePerMinute: 3 },
});

function limits(response: Response): (number | null)[] {
  const read = (name: string) => (response.headers.has(name) ? Number(response.headers.get(name)) : null);
  return ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "retry-after"].map(read);
}

const NEXT_MINUTE = Date.parse("2026-03-02T09:31:00Z") / 1000;

async function server() {
  const clock = testClock("2026-03-02T09:30:12.300Z");
  const { url } = await startServer({ routes, authenticate, clock });
  const as = (token: string, path = "/mine", init: RequestInit = {}) =>
    fetch(url + path, { ...init, headers: { authorization: `Bearer ${token}` } });
  const tokenRequest = (body: string, headers: Record<string, string> = {}) =>
    fetch(`${url}/token`, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
      body,
    });
  const times = async (count: number, request: () => Promise<Response>) => {
    let last = await request();
    for (let done = 1; done < count; done++) last = await request();
    return last;
  };
  return { clock, url, as, tokenRequest, times };
}

describe("a client's limit", () => {
  it("counts down within a minute, then refuses, then starts again", async () => {
    const { as, clock } = await server();
    expect(limits(await as("ann"))).toEqual([3, 2, NEXT_MINUTE, null]);
    expect(limits(await as("ann"))).toEqual([3, 1, NEXT_MINUTE, null]);
    expect(limits(await as("ann"))).toEqual([3, 0, NEXT_MINUTE, null]);
    const refused = await as("ann");
    expect(refused.status).toBe(429);
    expect(limits(refused)).toEqual([3, 0, NEXT_MINUTE, 48]);
    expect(await refused.json()).toMatchObject({
      type: "https://esim.example/docs/errors/rate_limit_exceeded",
      status: 429,
      instance: "/mine",
    });
    clock.set("2026-03-02T09:30:59.999Z");
    expect(limits(await as("ann"))).toEqual([3, 0, NEXT_MINUTE, 1]);
    clock.set("2026-03-02T09:31:00.000Z");
    const again = await as("ann");
    expect([again.status, ...limits(again)]).toEqual([200, 3, 2, NEXT_MINUTE + 60, null]);
  });

  it("is separate, with the partner's own limit", async () => {
    const { as, times } = await server();
    await times(4, () => as("ann"));
    const other = await as("ben");
    expect([other.status, ...limits(other)]).toEqual([200, 300, 299, NEXT_MINUTE, null]);
  });

  it("counts refusals too: missing scope, unknown path, wrong method", async () => {
    const { as } = await server();
    const forbidden = await as("reader");
    expect([forbidden.status, ...limits(forbidden)]).toEqual([403, 3, 2, NEXT_MINUTE, null]);
    const unknown = await as("reader", "/nothing");
    expect([unknown.status, ...limits(unknown)]).toEqual([404, 3, 1, NEXT_MINUTE, null]);
    const wrong = await as("reader", "/mine", { method: "DELETE" });
    expect([wrong.status, ...limits(wrong)]).toEqual([405, 3, 0, NEXT_MINUTE, null]);
    expect((await as("reader")).status).toBe(429);
  });
});

describe("all credentials of a partner", () => {
  it("have five times the limit of one together, in each environment, or what the operator set", async () => {
    const platform = await startPlatform({ rateLimits: true });
    const first = await platform.caller({ slug: "acme" });
    const others = [];
    for (let made = 0; made < 5; made++) others.push(await platform.credential("acme", {}));
    const send = async (caller: Caller, count: number) => {
      let last = await caller.get("/api/v1/balance");
      for (let sent = 1; sent < count; sent++) last = await caller.get("/api/v1/balance");
      return last;
    };
    for (const caller of others) expect((await send(caller, 60)).status).toBe(200);
    const refused = await first.get("/api/v1/balance");
    expect(refused.status).toBe(429);
    expect(refused.body.detail).toContain("300 requests of all your credentials");
    expect(refused.headers.get("x-ratelimit-limit")).toBe("60");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    const live = await platform.credential("acme", { live: true });
    const stranger = await platform.caller({ slug: "other" });
    expect([(await send(live, 1)).status, (await send(stranger, 1)).status]).toEqual([200, 200]);
    const bounds = { max_requests_per_minute: 400 };
    await platform.store.write(updatePartner, { slug: "acme", bounds, actor: "test" });
    expect((await send(first, 1)).status).toBe(200);
  });

  it("are created and deleted thirty times an hour at most", async () => {
    const platform = await startPlatform();
    const caller = await platform.caller({ slug: "acme" });
    const make = () => caller.send("POST", "/api/v1/credentials", { environment: "sandbox" });
    const drop = (id: string) => caller.send("DELETE", `/api/v1/credentials/${id}`);
    // What the operator makes does not count.
    for (let made = 0; made < 14; made++) {
      const { body } = await make();
      expect((await drop(body.client_id)).status).toBe(204);
    }
    await make();
    const last = await make();
    expect(last.status).toBe(201);
    const refused = [await make(), await drop(last.body.client_id)];
    for (const { status, headers, body } of refused) {
      expect([status, body.limit]).toEqual([429, 30]);
      expect(Number(headers.get("retry-after"))).toBeGreaterThan(3_000);
    }
    platform.clock.advance(3_600_000);
    const fresh = await platform.credential("acme", {});
    expect((await fresh.send("POST", "/api/v1/credentials", { environment: "sandbox" })).status).toBe(201);
  });
});

describe("an expired token", () => {
  it("counts for its credential, not for the address; a forged or revoked token does not", async () => {
    const platform = await startPlatform({ rateLimits: true });
    const caller = await platform.caller();
    const revoked = await platform.caller();
    const [head, payload, signature = ""] = caller.token.split(".");
    const forged = [head, payload, signature.replace(/^./, (first) => (first === "A" ? "B" : "A"))].join(".");
    await platform.store.write(revokeCredential, { clientId: revoked.clientId, actor: "test" });
    platform.clock.advance(3600_000);
    const as = (token: string) =>
      call(`${platform.url}/api/v1/orders`, { headers: { authorization: `Bearer ${token}` } });
    const limitsOf = async (token: string) => {
      const { status, body, headers } = await as(token);
      const slug = body.type.split("/").at(-1);
      return [status, slug, headers.get("x-ratelimit-limit"), headers.get("x-ratelimit-remaining")];
    };
    expect(await limitsOf(caller.token)).toEqual([401, "token_expired", "60", "59"]);
    expect(await limitsOf(caller.token)).toEqual([401, "token_expired", "60", "58"]);
    expect(await limitsOf(forged)).toEqual([401, "unauthorized", "300", "299"]);
    expect(await limitsOf(revoked.token)).toEqual([401, "token_expired", "300", "298"]);
    for (let sent = 0; sent < 58; sent++) await as(caller.token);
    expect(await limitsOf(caller.token)).toEqual([429, "rate_limit_exceeded", "60", "0"]);
    expect(await limitsOf(forged)).toEqual([401, "unauthorized", "300", "297"]);
  });
});

describe("an address without a valid token", () => {
  it("has 300 requests a minute, over public routes, bad tokens and unknown paths together", async () => {
    const { as, url, times } = await server();
    expect(limits(await fetch(`${url}/open`))).toEqual([300, 299, NEXT_MINUTE, null]);
    const unauthorized = await as("nobody");
    expect([unauthorized.status, ...limits(unauthorized)]).toEqual([401, 300, 298, NEXT_MINUTE, null]);
    expect(limits(await fetch(`${url}/nothing`))).toEqual([300, 297, NEXT_MINUTE, null]);
    expect(limits(await times(297, () => fetch(`${url}/open`)))).toEqual([300, 0, NEXT_MINUTE, null]);
    for (const response of [await fetch(`${url}/open`), await as("nobody"), await fetch(`${url}/nothing`)]) {
      expect([response.status, ...limits(response)]).toEqual([429, 300, 0, NEXT_MINUTE, 48]);
    }
    expect((await as("ben")).status, "a good token is not touched by it").toBe(200);
  });

  it("may read health without a limit", async () => {
    const { url, times } = await server();
    const last = await times(320, () => fetch(`${url}/healthz`));
    expect([last.status, ...limits(last)]).toEqual([200, null, null, null, null]);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
  });

  it("is taken from X-Forwarded-For only when the proxy is trusted, and then only its last entry", async () => {
    for (const trustProxy of [false, true]) {
      const { url } = await startServer({ routes, trustProxy });
      const from = (forwarded: string) => fetch(`${url}/open`, { headers: { "x-forwarded-for": forwarded } });
      await from("203.0.113.9");
      const other = await from("203.0.113.10");
      const forged = await from("203.0.113.77, 203.0.113.9");
      expect([limits(other)[1], limits(forged)[1]]).toEqual(trustProxy ? [299, 298] : [298, 297]);
    }
  });
});

describe("an IPv6 address", () => {
  it("counts for its network of 64 bits, an embedded IPv4 address for itself", async () => {
    const { url } = await startServer({ routes, trustProxy: true });
    const remaining = async (forwarded: string) =>
      limits(await fetch(`${url}/open`, { headers: { "x-forwarded-for": forwarded } }))[1];
    expect(await remaining("2001:db8:1:2::1")).toBe(299);
    expect(await remaining("2001:db8:1:2:ffff:ffff:ffff:ffff")).toBe(298);
    expect(await remaining("2001:0DB8:0001:0002::7")).toBe(297);
    expect(await remaining("2001:db8:1:3::1")).toBe(299);
    expect(await remaining("::ffff:203.0.113.9")).toBe(299);
    expect(await remaining("203.0.113.9")).toBe(298);
    expect(await remaining("::ffff:203.0.113.10")).toBe(299);
  });
});

describe("the token endpoint", () => {
  it("has separate windows: it uses up none of other requests, nor they its own", async () => {
    const { tokenRequest, times, url } = await server();
    expect((await times(301, () => fetch(`${url}/open`))).status).toBe(429);
    const untouched = await tokenRequest("client_id=sk_test_anna");
    expect([untouched.status, ...limits(untouched)]).toEqual([200, 30, 29, NEXT_MINUTE, null]);
    const other = await server();
    for (let sent = 0; sent < 301; sent++) await other.tokenRequest(`client_id=sk_test_${sent}`);
    expect((await other.tokenRequest("client_id=sk_test_new")).status).toBe(429);
    expect(limits(await fetch(`${other.url}/open`))).toEqual([300, 299, NEXT_MINUTE, null]);
  });

  it("accepts 30 requests a minute for one client_id, by any authentication method", async () => {
    const { tokenRequest, times, clock } = await server();
    const basic = { authorization: `Basic ${Buffer.from("sk_test_anna:secret").toString("base64")}` };
    expect(limits(await tokenRequest("client_id=sk_test_anna"))).toEqual([30, 29, NEXT_MINUTE, null]);
    expect(limits(await tokenRequest("", basic))).toEqual([30, 28, NEXT_MINUTE, null]);
    expect(limits(await times(28, () => tokenRequest("client_id=sk_test_anna")))).toEqual([30, 0, NEXT_MINUTE, null]);
    const refused = await tokenRequest("client_id=sk_test_anna");
    expect([refused.status, ...limits(refused)]).toEqual([429, 30, 0, NEXT_MINUTE, 48]);
    expect(await refused.json()).toMatchObject({ error: "invalid_request" });
    expect((await tokenRequest("", basic)).status).toBe(429);
    expect((await tokenRequest("client_id=sk_test_bert")).status).toBe(200);
    clock.advance(60_000);
    expect((await tokenRequest("client_id=sk_test_anna")).status).toBe(200);
  });

  it("counts every spelling of a client_id in HTTP Basic for the same client", async () => {
    const { tokenRequest } = await server();
    const spelled = (pair: string, scheme = "Basic ") =>
      tokenRequest("", { authorization: scheme + Buffer.from(pair).toString("base64") });
    expect(limits(await spelled("sk_test_anna:secret"))[1]).toBe(29);
    expect(limits(await spelled("sk%5Ftest_anna:secret"))[1]).toBe(28);
    expect(limits(await spelled("%73k_test_anna:secret"))[1]).toBe(27);
    expect(limits(await spelled("sk_test_anna:secret", "basic   "))[1]).toBe(26);
    expect(limits(await tokenRequest("client_id=+sk_test_anna+"))[1]).toBe(25);
  });

  it("accepts 300 a minute from one address, and shows the nearer limit", async () => {
    const { tokenRequest } = await server();
    for (let sent = 0; sent < 290; sent++) await tokenRequest(`client_id=sk_test_${sent}`);
    expect(limits(await tokenRequest("client_id=sk_test_new"))).toEqual([300, 9, NEXT_MINUTE, null]);
    for (let sent = 0; sent < 9; sent++) await tokenRequest(`client_id=sk_test_x${sent}`);
    const refused = await tokenRequest("client_id=sk_test_newer");
    expect([refused.status, ...limits(refused)]).toEqual([429, 300, 0, NEXT_MINUTE, 48]);
  });

  it("counts malformed requests", async () => {
    const { tokenRequest } = await server();
    const malformed = await tokenRequest("{", { "content-type": "application/json" });
    expect([malformed.status, ...limits(malformed)]).toEqual([400, 300, 299, NEXT_MINUTE, null]);
  });
});
