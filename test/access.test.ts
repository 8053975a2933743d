import { createPrivateKey, generateKeyPairSync, sign } from "node:crypto";
import { expect, test } from "vitest";
import { revokeCredential } from "../src/core/credentials/revoke.ts";
import { scopes } from "../src/core/credentials/scopes.ts";
import { createTokens } from "../src/core/credentials/tokens.ts";
import { randomIds } from "../src/core/kernel/ids.ts";
import { suspendPartner } from "../src/core/partners/suspend.ts";
import { allRoutes } from "../src/daemon/routes/by-resource.ts";
import { type Ask, accessEntries, acquire, type Belongings } from "./support/access.ts";
import { addProducts } from "./support/catalog.ts";
import { key } from "./support/generic-scenarios.ts";
import { testApp } from "./support/http.ts";
import { type Caller, call, type Platform, type Reply, startPlatform } from "./support/platform.ts";

interface Route {
  name: string;
  method: string;
  /** The scope that the route demands of a token, or "all" of them; null: the route takes no token. */
  scope: string | null;
}

/** Every route that the daemon registers, those outside the OpenAPI document included. */
async function routesOf({ store, clock }: Platform): Promise<Route[]> {
  const ids = randomIds();
  const tokens = createTokens({ store, clock, ids, issuer: "http://esim.test" });
  const addresses = { publicUrl: "http://esim.test", docsUrl: "http://esim.test/docs" };
  const app = testApp({ store, clock, ids, addresses }, { routes: [...(await allRoutes(tokens))] });
  const routes: Route[] = [];
  app.addHook("onRoute", ({ method, url, config }) => {
    if (config?.allow !== undefined) return;
    for (const each of [method].flat()) {
      routes.push({ name: `${each} ${url}`, method: each, scope: config?.scope ?? null });
    }
  });
  await app.ready();
  await app.close();
  return routes;
}

/** The caller: a column of the matrix. */
const credentials = [
  "no token",
  "forged",
  "expired",
  "revoked",
  "suspended",
  "scope missing",
  "other partner",
  "other environment",
  "owner",
] as const;
type Credential = (typeof credentials)[number];
type Send = (route: Route, ask: Ask) => Promise<Reply>;

/** Sends a route's request as each credential. */
async function senders(platform: Platform): Promise<{ owner: Caller; as: Record<Credential, Send> }> {
  const { store, url } = platform;
  const expired = await platform.caller({ slug: "early", agent: true });
  platform.clock.advance(2 * 60 * 60 * 1000);
  const owner = await platform.caller({ slug: "owner", agent: true });
  const live = await platform.credential("owner", { live: true });
  await platform.fund(live.partnerId, 1_000_000);
  const revoked = await platform.credential("owner", {});
  await store.write(revokeCredential, { clientId: revoked.clientId, actor: "test" });
  const suspended = await platform.caller({ slug: "suspended", agent: true });
  await store.write(suspendPartner, { slug: "suspended", actor: "test" });
  const stranger = await platform.caller({ slug: "stranger", agent: true });
  const lacking = new Map<string, Caller>();
  for (const scope of scopes) {
    lacking.set(scope, await platform.credential("owner", { scopes: scopes.filter((each) => each !== scope) }));
  }
  const by =
    (caller: Caller): Send =>
    ({ method }, { path, body }) =>
      caller.send(method, path, body, method === "POST" ? key() : {});
  const bearer =
    (authorization: string | null): Send =>
    ({ method }, { path, body }) =>
      call(url + path, {
        method,
        headers: {
          ...(authorization === null ? {} : { authorization }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
  const as: Record<Credential, Send> = {
    "no token": bearer(null),
    forged: bearer(`Bearer ${forged(owner.token)}`),
    expired: by(expired),
    revoked: by(revoked),
    suspended: by(suspended),
    "scope missing": (route, ask) =>
      by(lacking.get(route.scope === "all" ? scopes[0] : (route.scope ?? "")) ?? owner)(route, ask),
    "other partner": by(stranger),
    "other environment": by(live),
    owner: by(owner),
  };
  return { owner, as };
}

/** The owner's claims under a key of the attacker's. */
function forged(token: string): string {
  const [head = "", claims = ""] = token.split(".");
  const key = createPrivateKey(generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }));
  return `${head}.${claims}.${sign(null, Buffer.from(`${head}.${claims}`), key).toString("base64url")}`;
}

/** What a route answers to each credential whose token is invalid, or that is not allowed to use it. */
const refusals: Partial<Record<Credential, number>> = {
  "no token": 401,
  forged: 401,
  expired: 401,
  revoked: 401,
  suspended: 403,
  "scope missing": 403,
};

test("each route responds to each credential as docs/access.md shows, and exposes no other partner", async () => {
  const platform = await startPlatform();
  const routes = await routesOf(platform);
  const asked = routes.filter(({ method }) => method !== "HEAD");
  expect(asked.map(({ name }) => name).sort(), "a route without an entry").toEqual(Object.keys(accessEntries).sort());
  const { EU5: product } = await addProducts(platform.store, [{ sku: "EU5", price_cents: 100 }]);
  if (product === undefined) throw new Error("no product");
  const { owner, as } = await senders(platform);
  const rows: string[] = [];
  let of = await acquire(platform, owner, product);
  for (const route of asked) {
    const statuses: number[] = [];
    for (const credential of credentials) {
      const ask = accessEntries[route.name]?.(of) ?? { path: "" };
      const reply = await as[credential](route, ask);
      expectAllowed({ route, ask, credential, reply, of });
      if (route.method === "GET" && route.scope !== null) {
        const head = await as[credential]({ ...route, method: "HEAD" }, ask);
        expect(head.status, `HEAD ${ask.path} as ${credential}`).toBe(reply.status);
      }
      statuses.push(reply.status);
    }
    if (route.scope === null) expect(new Set(statuses).size, `${route.name} looks at a token`).toBe(1);
    // What a write changed or removed is replaced.
    if (route.method !== "GET" && route.scope !== null) of = await acquire(platform, owner, product);
    rows.push(`| \`${route.name}\` | ${route.scope ?? "public"} | ${statuses.join(" | ")} |`);
  }
  await expect(page(rows.sort())).toMatchFileSnapshot("../docs/access.md");
});

interface Cell {
  route: Route;
  ask: Ask;
  credential: Credential;
  reply: Reply;
  of: Belongings;
}

function expectAllowed({ route, ask, credential, reply, of }: Cell): void {
  // Some answers are long, and each has its text compared with all that is the owner's.
  const text = JSON.stringify(reply.body) ?? "";
  const where = `${route.name} as ${credential}: ${text.slice(0, 2_000)}`;
  expect(reply.status, where).toBeLessThan(500);
  if (route.scope === null) return;
  expect(reply.status, where).toBe(refusals[credential] ?? reply.status);
  if (credential === "owner") {
    expect(reply.status, where).toBeLessThan(300);
    return;
  }
  const isOthers = credential.startsWith("other");
  // A token of production manages the credentials of its partner's sandbox.
  const isForeign = ask.owned === "partner" ? credential === "other partner" : isOthers;
  if (ask.owned !== undefined && isForeign) expect([403, 404], where).toContain(reply.status);
  if (ask.named === true && isOthers) {
    const outcomes: { status: string }[] = reply.body.results;
    expect(
      outcomes.map(({ status }) => status),
      where,
    ).toEqual(outcomes.map(() => "failed"));
  }
  expectNothingOf(of, text, ask, credential);
}

/** The response may repeat what the request named. */
function expectNothingOf(of: Belongings, body: string, ask: Ask, by: Credential): void {
  const { product, qr, credential, ...others } = of;
  // A token of production lists the credentials of its partner's sandbox.
  const own = by === "other environment" ? others : { ...others, credential };
  const asked = JSON.stringify(ask);
  for (const text of Object.values(own)) {
    if (!asked.includes(text)) expect(body, ask.path).not.toContain(text);
  }
}

function page(rows: string[]): string {
  return `# Access

The status with which each route answers each credential. \`test/access.test.ts\` makes every one of these requests. It
fails on a route of the daemon without a row; \`npx vitest run test/access.test.ts -u\` writes this page.

- **forged**: the owner's claims signed by another key. **expired**, **revoked**, **suspended**: a token that was valid
  before its time ended, its credential was revoked, its partner was suspended.
- **scope missing**: the owner's credential without the route's scope.
- **other partner**, **other environment**: valid tokens with all scopes, asking for what is the owner's; a list or a
  bulk operation succeeds and holds nothing of the owner's.
- The pages of portal and console are in [Access to the pages](access-pages.md).
- Callbacks are authenticated by a signature over the body; none of these requests carries one.

| route | scope | ${credentials.join(" | ")} |
| --- | --- |${" ---: |".repeat(credentials.length)}
${rows.join("\n")}
`;
}
