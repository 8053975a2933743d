import { createHash, createPrivateKey } from "node:crypto";
import { createRemoteJWKSet, jwtVerify, SignJWT } from "jose";
import * as oauth from "oauth4webapi";
import { expect, test } from "vitest";
import { revokeCredential } from "../src/core/credentials/revoke.ts";
import { rotateCredential } from "../src/core/credentials/rotate.ts";
import { loadSigningKeys, rotateSigningKey } from "../src/core/credentials/signing-keys.ts";
import { createTokens } from "../src/core/credentials/tokens.ts";
import { randomIds } from "../src/core/kernel/ids.ts";
import { resumePartner, suspendPartner } from "../src/core/partners/suspend.ts";
import { updatePartner } from "../src/core/partners/update.ts";
import type { Store } from "../src/core/store/store.ts";
import { type Caller, call, type Platform, startPlatform } from "./support/platform.ts";
import { runStatements } from "./support/store.ts";

const JSON_TYPE = { "content-type": "application/json" };
const FORM_TYPE = { "content-type": "application/x-www-form-urlencoded" };

function askToken(platform: Platform, body: unknown, headers: Record<string, string> = JSON_TYPE) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return call(`${platform.url}/api/v1/oauth/token`, { method: "POST", headers, body: text });
}

function grant({ clientId, clientSecret }: Caller, more: object = {}) {
  return { grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret, ...more };
}

function basic(id: string, secret: string): Record<string, string> {
  return { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}` };
}

const ALL = "read:products read:orders write:orders read:esims read:webhooks write:webhooks";

test("a credential gets a token by JSON, by form and by HTTP Basic", async () => {
  const platform = await startPlatform();
  const caller = await platform.caller();
  expect(caller.clientId).toMatch(/^sk_test_/);
  const byJson = await askToken(platform, grant(caller));
  expect(byJson.status).toBe(200);
  expect(byJson.headers.get("cache-control")).toBe("no-store");
  expect(byJson.body).toEqual({
    access_token: expect.stringMatching(/^ey[\w-]+\.[\w-]+\.[\w-]+$/),
    token_type: "Bearer",
    expires_in: 3600,
    scope: ALL,
  });
  const form = new URLSearchParams(grant(caller, { scope: "read:orders read:products" })).toString();
  expect((await askToken(platform, form, FORM_TYPE)).body.scope).toBe("read:orders read:products");
  const headers = { ...FORM_TYPE, ...basic(caller.clientId, caller.clientSecret) };
  expect((await askToken(platform, "grant_type=client_credentials", headers)).status).toBe(200);
});

test("the token endpoint refuses with OAuth error objects", async () => {
  const platform = await startPlatform();
  const caller = await platform.caller({ scopes: ["read:products"] });
  const wrong = "x".repeat(43);
  const refusals: [name: string, body: unknown, headers: Record<string, string>, status: number, error: string][] = [
    ["wrong secret", grant(caller, { client_secret: wrong }), JSON_TYPE, 401, "invalid_client"],
    ["unknown client", grant(caller, { client_id: "sk_test_nobody" }), JSON_TYPE, 401, "invalid_client"],
    ["short id", grant(caller, { client_id: "sk" }), JSON_TYPE, 400, "invalid_request"],
    ["short secret", grant(caller, { client_secret: "short" }), JSON_TYPE, 400, "invalid_request"],
    ["no secret", grant(caller, { client_secret: undefined }), JSON_TYPE, 400, "invalid_request"],
    ["no grant", grant(caller, { grant_type: undefined }), JSON_TYPE, 400, "invalid_request"],
    ["other grant", grant(caller, { grant_type: "password" }), JSON_TYPE, 400, "invalid_request"],
    ["a scope it lacks", grant(caller, { scope: "read:orders" }), JSON_TYPE, 400, "invalid_scope"],
    ["no such scope", grant(caller, { scope: "read:all" }), JSON_TYPE, 400, "invalid_scope"],
    ["no JSON", "{", JSON_TYPE, 400, "invalid_request"],
    ["no body", "", JSON_TYPE, 400, "invalid_request"],
    [
      "body and Basic",
      grant(caller),
      { ...JSON_TYPE, ...basic(caller.clientId, caller.clientSecret) },
      400,
      "invalid_request",
    ],
    [
      "wrong Basic",
      "grant_type=client_credentials",
      { ...FORM_TYPE, ...basic(caller.clientId, wrong) },
      401,
      "invalid_client",
    ],
    ["XML", "<a/>", { "content-type": "text/xml" }, 415, "invalid_request"],
  ];
  for (const [name, body, headers, status, error] of refusals) {
    const reply = await askToken(platform, body, headers);
    expect([reply.status, reply.body.error], name).toEqual([status, error]);
    expect(reply.body.error_description, name).toEqual(expect.any(String));
    expect(Object.keys(reply.body), name).toEqual(["error", "error_description"]);
    expect(reply.headers.get("cache-control"), name).toBe("no-store");
    expect(JSON.stringify(reply.body), name).not.toContain(caller.clientSecret);
  }
});

test("oauth4webapi gets tokens by discovery, in the body and by Basic; jose verifies them from the JWKS", async () => {
  const platform = await startPlatform({ publicUrl: "bound" });
  const { clientId, clientSecret, partnerId } = await platform.caller();
  const insecure = { [oauth.allowInsecureRequests]: true };
  const issuer = new URL(platform.url);
  const found = await oauth.discoveryRequest(issuer, { ...insecure, algorithm: "oauth2" });
  const server = await oauth.processDiscoveryResponse(issuer, found);
  const client = { client_id: clientId };
  for (const authenticate of [oauth.ClientSecretPost(clientSecret), oauth.ClientSecretBasic(clientSecret)]) {
    const response = await oauth.clientCredentialsGrantRequest(
      server,
      client,
      authenticate,
      { scope: "read:orders" },
      insecure,
    );
    const { access_token } = await oauth.processClientCredentialsResponse(server, client, response);
    const keys = createRemoteJWKSet(new URL(server.jwks_uri ?? ""));
    const checks = { issuer: platform.url, audience: platform.url, currentDate: new Date(platform.clock.now()) };
    const { payload, protectedHeader } = await jwtVerify(access_token, keys, checks);
    expect(protectedHeader).toMatchObject({ alg: "EdDSA", kid: expect.any(String) });
    expect(payload).toMatchObject({ sub: partnerId, client_id: clientId, scope: "read:orders", env: "sandbox" });
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(3600);
    expect(payload.jti).toEqual(expect.any(String));
  }
});

test("an expired token is token_expired; a missing, malformed or foreign one unauthorized", async () => {
  const platform = await startPlatform();
  const caller = await platform.caller();
  expect((await caller.get("/api/v1/products")).status).toBe(200);
  platform.clock.advance(3_599_000);
  expect((await caller.get("/api/v1/products")).status).toBe(200);
  platform.clock.advance(1_000);
  const expired = await caller.get("/api/v1/products");
  expect(expired).toMatchObject({ status: 401, body: { type: "http://esim.test/docs/errors/token_expired" } });
  expect(expired.headers.get("www-authenticate")).toMatch(/^Bearer/);
  const [head, body] = caller.token.split(".");
  const forged = `${head}.${body}.${"A".repeat(86)}`;
  const none = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${body}.`;
  for (const authorization of [
    undefined,
    "Bearer",
    "Bearer x",
    `Basic ${caller.token}`,
    `Bearer ${forged}`,
    `Bearer ${none}`,
  ]) {
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
    const reply = await call(`${platform.url}/api/v1/products`, { headers });
    expect([reply.status, reply.body.type], authorization).toEqual([401, "http://esim.test/docs/errors/unauthorized"]);
  }
});

test("each route needs its scope", async () => {
  const platform = await startPlatform();
  const caller = await platform.caller({ scopes: ["read:products"] });
  expect((await caller.get("/api/v1/products")).status).toBe(200);
  const id = crypto.randomUUID();
  const needs: [string, string, string][] = [
    ["GET", "/api/v1/balance", "read:orders"],
    ["GET", "/api/v1/orders", "read:orders"],
    ["GET", `/api/v1/orders/${id}`, "read:orders"],
    ["GET", `/api/v1/orders/${id}/esims`, "read:esims"],
    ["POST", "/api/v1/orders", "write:orders"],
  ];
  for (const [method, path, scope] of needs) {
    const reply = await caller.send(method, path);
    expect([reply.status, reply.body.type], path).toEqual([403, "http://esim.test/docs/errors/insufficient_scope"]);
    expect(reply.body.detail).toContain(scope);
  }
});

test("a revocation or suspension by another process applies at the next request", async () => {
  const platform = await startPlatform();
  const caller = await platform.caller({ slug: "acme" });
  const live = await platform.credential("acme", { live: true });
  const terminal = await platform.again();
  const status = async (of: Caller) => (await of.get("/api/v1/products")).status;
  expect([await status(caller), await status(live)]).toEqual([200, 200]);

  await terminal.write(suspendPartner, { slug: "acme", actor: "operator" });
  const suspended = await caller.get("/api/v1/products");
  expect(suspended).toMatchObject({ status: 403, body: { type: "http://esim.test/docs/errors/partner_suspended" } });
  expect((await askToken(platform, grant(caller))).body.error).toBe("unauthorized_client");
  await terminal.write(resumePartner, { slug: "acme", actor: "operator" });
  expect(await status(caller)).toBe(200);

  await terminal.write(updatePartner, { slug: "acme", production: false, actor: "operator" });
  expect([await status(caller), await status(live)]).toEqual([200, 401]);
  expect((await askToken(platform, grant(live))).body.error).toBe("invalid_client");
  await terminal.write(updatePartner, { slug: "acme", production: true, actor: "operator" });
  expect(await status(live)).toBe(200);

  await terminal.write(revokeCredential, { clientId: caller.clientId, actor: "operator" });
  expect([await status(caller), await status(live)]).toEqual([401, 200]);
  expect((await askToken(platform, grant(caller))).body.error).toBe("invalid_client");
});

test("a rotated secret is refused, the new one works, live tokens stay valid", async () => {
  const platform = await startPlatform();
  const caller = await platform.caller();
  const rotated = await platform.store.write(rotateCredential, { clientId: caller.clientId, actor: "operator" });
  expect((await askToken(platform, grant(caller))).status).toBe(401);
  expect((await askToken(platform, grant(caller, { client_secret: rotated.client_secret }))).status).toBe(200);
  expect((await caller.get("/api/v1/products")).status).toBe(200);
});

test("signing keys rotate without breaking live tokens, and leave the JWKS when those have expired", async () => {
  const platform = await startPlatform();
  const before = await platform.caller();
  const kids = async () =>
    (await call(`${platform.url}/.well-known/jwks.json`)).body.keys.map((key: { kid: string }) => key.kid);
  const [old] = await kids();
  platform.clock.advance(1);
  const fresh = await platform.store.write(rotateSigningKey, { actor: "operator" });
  expect((await before.get("/api/v1/products")).status).toBe(200);
  const after = await platform.caller();
  expect(JSON.parse(Buffer.from(after.token.split(".")[0] ?? "", "base64url").toString()).kid).toBe(fresh);
  expect(await kids()).toEqual([old, fresh]);
  platform.clock.advance(3_601_000);
  const last = await platform.store.write(rotateSigningKey, { actor: "operator" });
  expect(await kids()).toEqual([fresh, last]);
});

test("an immediate rotation ends every token of older keys at its next use, in every process", async () => {
  const platform = await startPlatform();
  const caller = await platform.caller();
  const products = () => caller.get("/api/v1/products");
  expect((await products()).status).toBe(200);
  const earlier = await platform.store.write(rotateSigningKey, { actor: "operator" });
  expect((await products()).status).toBe(200);
  const terminal = await platform.again();
  const fresh = await terminal.write(rotateSigningKey, { actor: "operator", atOnce: true });
  expect(await products()).toMatchObject({ status: 401, body: { type: "http://esim.test/docs/errors/unauthorized" } });
  const { body } = await call(`${platform.url}/.well-known/jwks.json`);
  expect(body.keys.map((key: { kid: string }) => key.kid)).toEqual([fresh]);
  expect(fresh).not.toBe(earlier);
  const { body: granted } = await askToken(platform, grant(caller));
  const headers = { authorization: `Bearer ${granted.access_token}` };
  expect((await call(`${platform.url}/api/v1/products`, { headers })).status).toBe(200);
});

/** A token made with the first signing key, with times of its own; the result uses it. */
async function mint(platform: Platform, caller: Caller, { iat, exp }: { iat?: number; exp: number }) {
  const [signing] = await platform.store.read(loadSigningKeys, null);
  if (signing === undefined) throw new Error("no signing key");
  const key = createPrivateKey({ key: { ...signing.privateJwk }, format: "jwk" });
  const claims = { client_id: caller.clientId, scope: "read:products", env: "sandbox" };
  const token = new SignJWT(iat === undefined ? claims : { ...claims, iat })
    .setProtectedHeader({ alg: "EdDSA", typ: "at+jwt", kid: signing.kid })
    .setIssuer("http://esim.test")
    .setAudience("http://esim.test")
    .setExpirationTime(exp);
  const headers = { authorization: `Bearer ${await token.sign(key)}` };
  return async () => (await call(`${platform.url}/api/v1/products`, { headers })).status;
}

test("a token under a valid key is refused when its lifetime exceeds an hour or begins later", async () => {
  const platform = await startPlatform();
  const caller = await platform.caller();
  const now = platform.clock.now() / 1000;
  const status = async (times: { iat?: number; exp: number }) => (await mint(platform, caller, times))();
  expect(await status({ iat: now, exp: now + 3600 })).toBe(200);
  expect(await status({ iat: now, exp: now + 3601 })).toBe(401);
  expect(await status({ iat: now - 7200, exp: now + 60 })).toBe(401);
  expect(await status({ iat: now + 86_400, exp: now + 90_000 })).toBe(401);
  expect(await status({ exp: now + 60 })).toBe(401);
});

test("a retired key expires by the clock, also for tokens that were verified before", async () => {
  const platform = await startPlatform();
  const caller = await platform.caller();
  const start = platform.clock.now() / 1000;
  const use = await mint(platform, caller, { iat: start + 3_600, exp: start + 7_200 });
  await platform.store.write(rotateSigningKey, { actor: "operator" });
  platform.clock.advance(3_599_000);
  expect(await use()).toBe(200);
  platform.clock.advance(1_000);
  expect(await use()).toBe(401);
  const { body } = await call(`${platform.url}/.well-known/jwks.json`);
  expect(body.keys).toHaveLength(1);
});

test("a wrong secret costs as many reads as an unknown client, also where the client is known by then", async () => {
  const { store, clock, caller } = await startPlatform();
  const { clientId, clientSecret } = await caller();
  let reads = 0;
  const counting: Store = {
    ...store,
    read: (query, input) => {
      reads += 1;
      return store.read(query, input);
    },
  };
  const tokens = createTokens({ store: counting, clock, ids: randomIds(), issuer: "http://esim.test" });
  const costOf = async (id: string, secret: string) => {
    reads = 0;
    const outcome = await tokens.issue({ clientId: id, clientSecret: secret, ip: "127.0.0.1" }).then(
      () => "issued",
      () => "refused",
    );
    return [outcome, reads];
  };
  await costOf(clientId, clientSecret);
  expect(await costOf(clientId, clientSecret)).toEqual(["issued", 0]);
  const wrong = "a secret of that length that was never issued to a client";
  expect(await costOf(clientId, wrong)).toEqual(["refused", 1]);
  expect(await costOf("sk_test_000000000000000000000000000000000000", wrong)).toEqual(["refused", 1]);
});

test("no stored byte is the secret, and the list never shows it", async () => {
  const platform = await startPlatform();
  const caller = await platform.caller();
  const rows = await platform.store.read(async (q) => q.db.select().from(q.t.credentials), null);
  expect(JSON.stringify(rows)).toContain(caller.clientId);
  expect(JSON.stringify(rows)).not.toContain(caller.clientSecret);
});

test("a hash written into the database authenticates nothing, nor does another client's mark", async () => {
  const platform = await startPlatform();
  const [caller, other] = [await platform.caller(), await platform.caller()];
  const known = "a secret that the attacker knows, long enough";
  const hash = createHash("sha256").update(known).digest("hex");
  const token = async (clientSecret: string) => (await askToken(platform, grant({ ...caller, clientSecret }))).status;
  const write = (value: string) =>
    runStatements(platform.location, [
      `UPDATE credentials SET secret_hash = ${value} WHERE client_id = '${caller.clientId}'`,
    ]);
  expect(await token(caller.clientSecret)).toBe(200);
  await write(`'${hash}'`);
  expect(await token(known)).toBe(401);
  await platform.again();
  expect(await token(known)).toBe(401);
  await write(`(SELECT secret_hash FROM credentials WHERE client_id = '${other.clientId}')`);
  expect(await token(other.clientSecret)).toBe(401);
});

test("credentials of an earlier version keep working; a removed key does not make hashes of marks", async () => {
  const platform = await startPlatform();
  const caller = await platform.caller();
  const hash = createHash("sha256").update(caller.clientSecret).digest("hex");
  const withoutKey = "DELETE FROM data_keys WHERE purpose = 'credential'";
  await runStatements(platform.location, [withoutKey]);
  await expect(platform.again()).rejects.toThrow("The key of the credentials was removed from the database.");
  await runStatements(platform.location, [`UPDATE credentials SET secret_hash = '${hash}'`]);
  await platform.again();
  const stored = await platform.store.read(async (q) => q.db.select().from(q.t.credentials), null);
  expect(stored[0]?.secret_hash).toMatch(/^m1\./);
  expect((await askToken(platform, grant(caller))).status).toBe(200);
});

test("a challenge names the fault of the token, by RFC 6750", async () => {
  const platform = await startPlatform();
  const caller = await platform.caller();
  const reader = await platform.caller({ scopes: ["read:products"] });
  const revoked = await platform.caller();
  await platform.store.write(revokeCredential, { clientId: revoked.clientId, actor: "test" });
  const challenge = async (authorization?: string) => {
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
    const reply = await call(`${platform.url}/api/v1/orders`, { headers });
    return [reply.status, reply.headers.get("www-authenticate")];
  };
  const realm = 'Bearer realm="Partner API"';
  expect(await challenge()).toEqual([401, realm]);
  for (const foreign of ["Basic YTpi", "Digest x", "nonsense"]) expect(await challenge(foreign)).toEqual([401, realm]);
  for (const token of ["junk", "a b", "", revoked.token, `${caller.token}x`]) {
    expect(await challenge(`Bearer ${token}`), token).toEqual([401, `${realm}, error="invalid_token"`]);
  }
  expect(await challenge(`Bearer ${reader.token}`)).toEqual([
    403,
    `${realm}, error="insufficient_scope", scope="read:orders"`,
  ]);
  platform.clock.advance(3600_000);
  expect(await challenge(`bearer ${caller.token}`)).toEqual([401, `${realm}, error="invalid_token"`]);
});

test("a token request with a malformed or foreign Authorization header is invalid_client", async () => {
  const platform = await startPlatform();
  const caller = await platform.caller();
  const wrong = String(basic(caller.clientId, "x".repeat(43)).authorization);
  const noColon = `Basic ${Buffer.from("sk_test_x").toString("base64")}`;
  const badPercent = `Basic ${Buffer.from("sk_test_%zz:secret").toString("base64")}`;
  for (const authorization of ["Basic !!!", "Basic", noColon, badPercent, "Digest x", "Bearer y", wrong]) {
    const bodies: unknown[] = [{ grant_type: "client_credentials" }];
    // RFC 6749, 2.3: a client authenticates in one way only.
    if (authorization !== wrong) bodies.push(grant(caller));
    for (const body of bodies) {
      const reply = await askToken(platform, body, { ...JSON_TYPE, authorization });
      expect([reply.status, reply.body.error], authorization).toEqual([401, "invalid_client"]);
      expect(reply.headers.get("www-authenticate"), authorization).toBe('Basic realm="Partner API", charset="UTF-8"');
    }
  }
  const inBody = await askToken(platform, grant(caller, { client_secret: "x".repeat(43) }));
  expect([inBody.status, inBody.headers.get("www-authenticate")]).toEqual([
    401,
    'Basic realm="Partner API", charset="UTF-8"',
  ]);
});
