import { once } from "node:events";
import { connect } from "node:net";
import { PassThrough } from "node:stream";
import { text as wholeOf } from "node:stream/consumers";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { createTokens } from "../src/core/credentials/tokens.ts";
import { updateCredential } from "../src/core/credentials/update.ts";
import type { OrderId } from "../src/core/kernel/brand.ts";
import { randomIds } from "../src/core/kernel/ids.ts";
import { cancelOrder } from "../src/core/orders/cancel.ts";
import { resumePartner, suspendPartner } from "../src/core/partners/suspend.ts";
import { writeHeartbeat } from "../src/core/store/heartbeat.ts";
import type { Store } from "../src/core/store/store.ts";
import type { RoutePlugin, StillHolds } from "../src/daemon/context/fastify.ts";
import { buildApp } from "../src/daemon/http/app.ts";
import { createLogger } from "../src/daemon/log/logger.ts";
import { createMetrics } from "../src/daemon/metrics/metrics.ts";
import { bearerTokens } from "../src/daemon/plugins/authentication.ts";
import { allRoutes } from "../src/daemon/routes/by-resource.ts";
import { listen } from "../src/daemon/serve/listen.ts";
import { addProducts, addStock } from "./support/catalog.ts";
import { garbageCollector } from "./support/garbage-collector.ts";
import { refusalOf } from "./support/guarded-shop.ts";
import { knownTokens, startServer } from "./support/http.ts";
import { type Caller, call, type Platform, type Reply, startPlatform } from "./support/platform.ts";
import { onPostgres } from "./support/store.ts";

/** A route whose responses may be sent again, and how often its handler was asked. */
function asked() {
  const counted = { times: 0 };
  const routes: RoutePlugin = (app) => {
    app.get("/mine", { config: { scope: "read:orders", again: true } }, async (_request, reply) => {
      counted.times += 1;
      return reply.type("application/json; charset=utf-8").send(Buffer.from('{"mine":true}'));
    });
  };
  return { counted, routes: [routes] };
}

const as = (token: string, more: Record<string, string> = {}) => ({
  headers: { authorization: `Bearer ${token}`, ...more },
});

describe("a request that comes again while nothing is committed", () => {
  test.runIf(!onPostgres)("is answered without its handler, until something is committed", async () => {
    const { counted, routes } = asked();
    const { url, context } = await startServer({ routes });
    const read = async () => (await fetch(`${url}/mine`, as("good"))).text();
    // The first of a state is not kept: amid steady writes that would be work for nothing.
    for (let n = 0; n < 5; n++) expect(await read()).toBe('{"mine":true}');
    expect(counted.times).toBe(2);
    await context.store.write(writeHeartbeat, null);
    for (let n = 0; n < 5; n++) await read();
    expect(counted.times).toBe(4);
  });

  test.runIf(!onPostgres)("is answered without its handler after commits that change nothing of it", async () => {
    const counted = { handled: 0, asked: 0 };
    let now = 1;
    // Letters of two, three and four bytes.
    const words = (number: number) => `Zürich, 東京 🗼 ${number}`;
    const routes: RoutePlugin = (app) => {
      app.get("/mine", { config: { scope: "read:orders", again: true } }, async (request, reply) => {
        counted.handled += 1;
        const shown = now;
        request.stillHolds = async () => {
          counted.asked += 1;
          return now === shown;
        };
        return reply.type("text/plain").send(Buffer.from(words(shown)));
      });
    };
    const authenticate = knownTokens({ good: { ratePerMinute: 1_000 } });
    const { url, context, clock } = await startServer({ routes: [routes], authenticate });
    const read = async () => (await fetch(`${url}/mine`, as("good"))).text();
    const commit = async () => {
      // A row that stays as it is would be no commit.
      clock.advance(1);
      await context.store.write(writeHeartbeat, null);
    };
    expect(await read()).toBe(words(1));
    for (let commits = 1; commits <= 3; commits++) {
      await commit();
      expect(await Promise.all([read(), read(), read()])).toEqual([words(1), words(1), words(1)]);
      // Once for each state, however many ask.
      expect(counted).toEqual({ handled: 1, asked: commits });
    }
    now = 2;
    await commit();
    expect(await read()).toBe(words(2));
    expect(await read()).toBe(words(2));
    expect(counted).toEqual({ handled: 2, asked: 4 });
  });

  test.runIf(!onPostgres)("is answered by its handler where it is unknown whether it changed", async () => {
    let handled = 0;
    const routes: RoutePlugin = (app) => {
      app.get("/mine", { config: { scope: "read:orders", again: true } }, async (request, reply) => {
        request.stillHolds = () => Promise.reject(new Error("the database is away"));
        return reply.type("text/plain").send(Buffer.from(String(++handled)));
      });
    };
    const { url, context } = await startServer({ routes: [routes] });
    const read = async () => (await fetch(`${url}/mine`, as("good"))).text();
    expect([await read(), await read()]).toEqual(["1", "1"]);
    await context.store.write(writeHeartbeat, null);
    expect([await read(), await read()]).toEqual(["2", "2"]);
  });

  test.runIf(!onPostgres)("is kept no longer than the reference data that it was made by", async () => {
    const gc = garbageCollector();
    // What a response is kept together with.
    const made: WeakRef<StillHolds>[] = [];
    const routes: RoutePlugin = (app) => {
      const config = { scope: "read:orders", again: true } as const;
      app.get("/mine", { config }, async (request, reply) => {
        const stillHolds = async () => true;
        made.push(new WeakRef(stillHolds));
        request.stillHolds = stillHolds;
        return reply.type("text/plain").send(Buffer.from("someone"));
      });
      app.get("/other", { config }, async (_request, reply) => reply.type("text/plain").send(Buffer.from("other")));
    };
    const { url, context } = await startServer({ routes: [routes] });
    const read = async (path: string) => (await fetch(url + path, as("good"))).text();
    for (let n = 0; n < 3; n++) expect(await read("/mine")).toBe("someone");
    gc();
    expect([made.length, made[0]?.deref()]).toEqual([1, expect.any(Function)]);
    // An erasure ends the epoch in the same way.
    await addProducts(context.store, [{ sku: "A" }]);
    await read("/other");
    // What a WeakRef was asked for stays until the turn ends.
    await new Promise(setImmediate);
    gc();
    expect(made[0]?.deref()).toBeUndefined();
  });

  test("is counted, refused beyond the limit, logged and measured as any other", async () => {
    const stream = new PassThrough();
    let text = "";
    stream.on("data", (chunk) => {
      text += String(chunk);
    });
    const logger = await createLogger("info", { pretty: false, destination: stream });
    const metrics = createMetrics();
    const { routes } = asked();
    const authenticate = knownTokens({ good: { ratePerMinute: 6 } });
    const { url } = await startServer({ routes, logger, metrics, authenticate });
    const replies: Response[] = [];
    for (let n = 0; n < 8; n++) replies.push(await fetch(`${url}/mine`, as("good", { "x-request-id": `call-${n}` })));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200, 429, 429]);
    const of = (name: string) => replies.map(({ headers }) => headers.get(name));
    expect(of("x-ratelimit-remaining")).toEqual(["5", "4", "3", "2", "1", "0", "0", "0"]);
    expect(new Set(of("x-ratelimit-limit"))).toEqual(new Set(["6"]));
    expect(of("x-request-id")).toEqual(replies.map((_, n) => `call-${n}`));

    const lines = () => text.split("\n").filter((line) => line.includes('"msg":"request"'));
    await expect.poll(() => lines().length).toBe(8);
    const sent = { method: "GET", route: "/mine", partner: "known", client_id: "sk_test_good" };
    const records = lines().map((line) => JSON.parse(line));
    expect(records).toMatchObject(replies.map(({ status }, n) => ({ ...sent, status, request_id: `call-${n}` })));
    expect(new Set(records.slice(0, 6).map((record) => Object.keys(record).sort().join()))).toHaveLength(1);
    const counts = await metrics.registry.getSingleMetricAsString("esimctl_http_requests_total");
    expect(counts).toContain('{method="GET",route="/mine",status="200"} 6');
    expect(counts).toContain('{method="GET",route="/mine",status="429"} 2');
  });

  test("carries the same headers but for its own", async () => {
    const { routes } = asked();
    const { url } = await startServer({ routes });
    const own = new Set(["date", "x-request-id", "x-ratelimit-remaining"]);
    const headersOf = ({ headers }: Response) => Object.fromEntries([...headers].filter(([name]) => !own.has(name)));
    const replies: Response[] = [];
    for (let n = 0; n < 4; n++) replies.push(await fetch(`${url}/mine`, as("good")));
    expect(replies.map(headersOf)).toEqual(replies.map(() => headersOf(replies[0] as Response))); // four were sent
  });

  test("has its body for GET alone, whichever of GET and HEAD came first", async () => {
    const { routes } = asked();
    const { url } = await startServer({ routes });
    for (const method of ["HEAD", "HEAD", "HEAD", "GET", "GET", "HEAD"]) {
      const reply = await fetch(`${url}/mine`, { method, ...as("good") });
      expect([reply.status, reply.headers.get("content-length")]).toEqual([200, "13"]);
      expect(await reply.text()).toBe(method === "GET" ? '{"mine":true}' : "");
    }
  });

  test("is answered for its own caller and head alone", async () => {
    const seen: RoutePlugin = (app) => {
      app.get("/seen", { config: { scope: "read:orders", again: true } }, async ({ principal, headers }, reply) =>
        reply.type("text/plain").send(Buffer.from(`${principal?.partner} ${headers["x-asked"]}`)),
      );
    };
    const authenticate = knownTokens({ one: { partner: "one" }, two: { partner: "two" } });
    const { url } = await startServer({ routes: [seen], authenticate });
    for (const round of [1, 2, 3]) {
      for (const token of ["one", "two"]) {
        for (const asking of ["a", "b"]) {
          const reply = await fetch(`${url}/seen`, as(token, { "x-asked": asking }));
          expect(await reply.text(), `round ${round}`).toBe(`${token} ${asking}`);
        }
      }
    }
    expect((await fetch(`${url}/seen`, as("three", { "x-asked": "a" }))).status).toBe(401);
  });

  test("is answered in its turn among others of one connection, and survives callers that leave", async () => {
    const { counted, routes } = asked();
    const other: RoutePlugin = (app) => app.get("/other", { config: { public: true } }, async () => ({ other: true }));
    const authenticate = knownTokens({ good: { ratePerMinute: 1_000 } });
    const { port, url } = await startServer({ routes: [...routes, other], authenticate });
    const head = (path: string) => `GET ${path} HTTP/1.1\r\nHost: esim.example\r\nAuthorization: Bearer good\r\n\r\n`;
    const last = head("/nowhere").replace("Host", "Connection: close\r\nHost");
    const several = ["/mine", "/other", "/mine", "/mine"].map(head).join("") + last;
    for (let n = 0; n < 3; n++) {
      const connection = connect(port, "127.0.0.1");
      connection.write(several);
      const answers = await wholeOf(connection);
      const parts = answers.match(/"(?:mine|other)":true|"status":404/g);
      expect(parts).toEqual(['"mine":true', '"other":true', '"mine":true', '"mine":true', '"status":404']);
    }
    // Those that came at once, before one was kept.
    expect(counted.times).toBe(onPostgres ? 9 : 3);
    for (let n = 0; n < 20; n++) {
      const leaving = connect(port, "127.0.0.1");
      leaving.write(head("/mine").repeat(3), () => (n % 2 === 0 ? leaving.destroy() : leaving.resetAndDestroy()));
      await once(leaving, "close");
    }
    expect((await fetch(`${url}/mine`, as("good"))).status).toBe(200);
  });

  test("closes its connection once the daemon stops", async () => {
    const { routes } = asked();
    const { app, url } = await startServer({ routes });
    for (let n = 0; n < 4; n++) await fetch(`${url}/mine`, as("good"));
    app.lifecycle.draining = true;
    expect((await fetch(`${url}/mine`, as("good"))).headers.get("connection")).toBe("close");
  });
});

test("is refused once its token has expired, its partner is suspended, or its credential admits others", async () => {
  const platform = await startPlatform({ trustProxy: true });
  const { store } = platform;
  await addProducts(store, [{ sku: "A" }]);
  const acme = await platform.caller({ slug: "acme" });
  const from = (ip: string) => acme.get("/api/v1/products", { "x-forwarded-for": ip });
  const reads = async () => {
    for (let n = 0; n < 4; n++) expect((await from("192.0.2.1")).status).toBe(200);
  };
  await reads();
  const by = { slug: "acme", actor: "test" };
  await store.write(suspendPartner, by);
  expect(refusalOf(await from("192.0.2.1"))).toEqual([403, "partner_suspended"]);
  await store.write(resumePartner, by);
  await reads();
  expect((await from("198.51.100.7")).status).toBe(200);
  const { clientId } = acme;
  await store.write(updateCredential, { clientId, addresses: ["192.0.2.0/24"], actor: "test" });
  await reads();
  expect(refusalOf(await from("198.51.100.7"))).toEqual([403, "ip_not_allowed"]);
  platform.clock.advance(24 * 60 * 60 * 1000);
  expect(refusalOf(await from("192.0.2.1"))).toEqual([401, "token_expired"]);
});

test("an order that another process changed is sent as it is now", async () => {
  const platform = await startPlatform();
  const other = await platform.again();
  const { LATER: product_id } = await addProducts(platform.store, [{ sku: "LATER" }]);
  const acme = await platform.caller({ slug: "acme", live: true });
  await platform.fund(acme.partnerId, 100_000_000);
  const placed = await acme.send(
    "POST",
    "/api/v1/orders",
    { line_items: [{ product_id, quantity: 1 }] },
    { "idempotency-key": "later" },
  );
  const status = async () => (await acme.get(`/api/v1/orders/${placed.body.id}`)).body.status;
  for (let n = 0; n < 3; n++) {
    expect(await status()).toBe("paid");
    platform.clock.advance(1);
    await other.write(writeHeartbeat, null);
  }
  await other.write(cancelOrder, { id: placed.body.id, reason: "test", actor: "test" });
  expect(await status()).toBe("cancelled");
});

/** A read of a mix: who asks, for what and how. */
const read = fc.record({
  by: fc.nat(2),
  // An order of its own changes least often.
  path: fc.constantFrom(0, 1, 2, 2, 3),
  gzip: fc.boolean(),
  known: fc.boolean(),
});
type Asking = typeof read extends fc.Arbitrary<infer T> ? T : never;
const change = fc.constantFrom("order", "stock order", "cancel", "nothing", "price", "suspend", "resume");
const mix = fc.array(fc.oneof({ weight: 3, arbitrary: read }, { weight: 1, arbitrary: change }), {
  minLength: 10,
  maxLength: 40,
});

const OWN = new Set(["date", "x-request-id"]);
/** All of a response that its callers may compare. */
const shown = ({ status, headers, body }: Reply) => {
  const rest = [...headers].filter(([name]) => !OWN.has(name)).sort();
  return { status, headers: Object.fromEntries(rest), body: status < 400 ? body : body.type };
};

/** Another server on the platform's store, whose callers never send the same twice. */
async function serveBeside({ store, clock }: Platform): Promise<string> {
  const addresses = { publicUrl: "http://esim.test", docsUrl: "http://esim.test/docs" };
  const tokens = createTokens({ store, clock, ids: randomIds(), issuer: addresses.publicUrl });
  const options = { counters: null, trustProxy: false, logger: false, routes: await allRoutes(tokens) } as const;
  const context = { store, clock, ids: randomIds(), addresses };
  const app = buildApp(context, { ...options, authenticate: bearerTokens(tokens) });
  onTestFinished(() => app.close());
  return listen(app, { host: "127.0.0.1", port: 0 });
}

/** A partner that orders, what others do meanwhile, and the paths that show its newest order. */
async function shopOf(platform: Platform) {
  const { store, clock } = platform;
  const products = await addProducts(store, [{ sku: "STOCK" }, { sku: "LATER" }]);
  await addStock(store, "STOCK", 300);
  const acme = await platform.caller({ slug: "acme", live: true });
  await platform.fund(acme.partnerId, 100_000_000);
  let order = "";
  let price = 100;
  const place = async (sku: string) => {
    const body = { line_items: [{ product_id: products[sku], quantity: 1 }] };
    const key = { "idempotency-key": crypto.randomUUID() };
    const placed = await acme.send("POST", "/api/v1/orders", body, key);
    if (placed.status === 201) order = placed.body.id;
  };
  await place("STOCK");
  const by = { slug: "acme", actor: "test" };
  const changes: Record<string, (process: Store) => Promise<unknown>> = {
    order: () => place("LATER"),
    "stock order": () => place("STOCK"),
    // Of what is not delivered: the order that is read changes.
    cancel: (process) => process.write(cancelOrder, { id: order as OrderId, reason: "mix", actor: "test" }),
    nothing(process) {
      clock.advance(1);
      return process.write(writeHeartbeat, null);
    },
    price: (process) => addProducts(process, [{ sku: "STOCK", price_cents: ++price }]),
    suspend: (process) => process.write(suspendPartner, by),
    resume: (process) => process.write(resumePartner, by),
  };
  const paths = () => ["/api/v1/products", "/api/v1/orders?limit=5", `/api/v1/orders/${order}`, "/api/v1/orders"];
  return { acme, changes, paths };
}

test("in a random mix of reads and changes each response is what a request for the first time gets", async () => {
  const platform = await startPlatform();
  const other = await platform.again();
  const { store } = platform;
  const { acme, changes, paths } = await shopOf(platform);
  const callers: Caller[] = [acme, await platform.credential("acme", {}), await platform.caller({ live: true })];
  const beside = await serveBeside(platform);
  const tags = new Map<string, string>();
  async function compare(asking: Asking) {
    const { get, token } = callers[asking.by] as Caller; // of three
    const path = paths()[asking.path] ?? "";
    const tag = tags.get(`${asking.by} ${path}`);
    const headers = {
      "accept-encoding": asking.gzip ? "gzip" : "identity",
      ...(asking.known && tag !== undefined ? { "if-none-match": tag } : {}),
    };
    const reply = await get(path, headers);
    tags.set(`${asking.by} ${path}`, reply.headers.get("etag") ?? "");
    // A head that none had before.
    const nonce = { authorization: `Bearer ${token}`, "x-nonce": crypto.randomUUID() };
    expect(shown(reply)).toEqual(shown(await call(beside + path, { headers: { ...headers, ...nonce } })));
  }
  let turn = 0;
  await fc.assert(
    fc.asyncProperty(mix, async (steps) => {
      const asked: Asking[] = [];
      for (const step of steps) {
        if (typeof step !== "string") asked.push(step);
        // Of this process and of another in turn; what is so already is refused.
        else await changes[step]?.(++turn % 2 === 0 ? store : other).catch(() => undefined);
        for (const asking of asked.slice(-6)) await compare(asking);
      }
      await changes.resume?.(store).catch(() => undefined);
    }),
    { numRuns: 12, interruptAfterTimeLimit: 10_000, markInterruptAsFailure: false },
  );
});
