import type { Logger } from "pino";
import { onTestFinished } from "vitest";
import { createCredential } from "../../src/core/credentials/create.ts";
import { createTokens } from "../../src/core/credentials/tokens.ts";
import type { PartnerId } from "../../src/core/kernel/brand.ts";
import { randomIds } from "../../src/core/kernel/ids.ts";
import { minorUnits } from "../../src/core/kernel/money.ts";
import { createPartner, type NewPartner } from "../../src/core/partners/create.ts";
import type { Store } from "../../src/core/store/store.ts";
import { creditWallet } from "../../src/core/wallet/fund.ts";
import { servedAddresses } from "../../src/daemon/context/addresses.ts";
import { buildApp } from "../../src/daemon/http/app.ts";
import type { RequestCounting } from "../../src/daemon/metrics/metrics.ts";
import { memoryCounters } from "../../src/daemon/plugins/rate-windows.ts";
import { allRoutes } from "../../src/daemon/routes/by-resource.ts";
import { bearerTokens } from "../../src/daemon/serve/front.ts";
import { listen } from "../../src/daemon/serve/listen.ts";
import { prepareStore } from "../../src/daemon/serve/prepare-store.ts";
import { createFulfillment } from "../../src/daemon/workers/fulfillment.ts";
import { type TestClock, testClock } from "./clock.ts";
import { settled } from "./pool.ts";
import { openTestStore, type TestStore } from "./store.ts";

/** An HTTP response with its whole body. */
export interface Reply {
  status: number;
  headers: Headers;
  // Tests look into bodies of every shape.
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects and fails where it is not there
  body: any;
}

export interface Caller {
  partnerId: PartnerId;
  clientId: string;
  clientSecret: string;
  token: string;
  get(path: string, headers?: Record<string, string>): Promise<Reply>;
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
}

export interface Platform extends TestStore {
  clock: TestClock;
  url: string;
  /** A partner with a credential and a token, ready to call. */
  caller(partner?: Partial<NewPartner> & { live?: boolean; scopes?: string[] }): Promise<Caller>;
  /** Another credential of a partner that `caller` made. */
  credential(slug: string, options: { live?: boolean; scopes?: string[] }): Promise<Caller>;
  fund(partnerId: PartnerId, amount: number, currency?: string): Promise<void>;
  /** Runs the fulfillment worker on all that is due. */
  fulfill(): Promise<void>;
}

export interface PlatformOptions {
  rateLimits?: boolean;
  /** The initial time of the clock. */
  start?: string;
  /** The base of links and the issuer of tokens, http://esim.test by default; `bound`: the real address. */
  publicUrl?: string;
  /** Puts a proxy in front, to which all requests then go: its address for the platform's. */
  behind?: (url: string) => Promise<string>;
  /** Takes client addresses from X-Forwarded-For. */
  trustProxy?: boolean;
  /** Counts its requests. */
  metrics?: RequestCounting;
  /** Serves portal and console too. */
  pages?: boolean;
  /** Whether its pages take mail to go out; left out: it does. */
  mail?: "none" | "perhaps";
  /** Logs there, and says where that is kept; left out: nothing is logged. */
  log?: { logger: Logger; folder: string };
}

/** A whole platform listening on loopback, on a fresh database and a clock of its own; without rate limits. */
export async function startPlatform(options: PlatformOptions = {}): Promise<Platform> {
  const clock = testClock(options.start ?? "2026-03-02T01:00:00.000Z");
  const opened = await openTestStore(clock);
  const { store } = opened;
  await prepareStore(store);
  const ids = randomIds();
  const publicUrl = options.publicUrl === "bound" ? undefined : (options.publicUrl ?? "http://esim.test");
  const { port, addresses } = await servedAddresses({ host: "127.0.0.1", port: 0, publicUrl });
  const tokens = createTokens({ store, clock, ids, issuer: addresses.publicUrl });
  const app = buildApp(
    {
      ...{ store, clock, ids, addresses },
      ...(options.log === undefined ? {} : { logFolder: options.log.folder }),
      ...(options.mail === undefined ? {} : { mail: options.mail }),
    },
    {
      authenticate: bearerTokens(tokens),
      counters: options.rateLimits === true ? memoryCounters(clock) : null,
      trustProxy: options.trustProxy === true,
      ...(options.metrics === undefined ? {} : { metrics: options.metrics }),
      logger: options.log?.logger ?? false,
      routes: [
        ...(await allRoutes(tokens)),
        ...(options.pages === true ? [(await import("../../src/web/register.tsx")).webRoutes] : []),
      ],
    },
  );
  // Only links to the bound address need the port before it is bound, when another process may still take it.
  const bound = await listen(app, { host: "127.0.0.1", port: options.publicUrl === "bound" ? port : 0 });
  const url = (await options.behind?.(bound)) ?? bound;
  onTestFinished(() => app.close());
  const log = { error: (...words: unknown[]) => console.error(...words) };
  const credential = (slug: string, asked: { live?: boolean; scopes?: string[] }) => newCaller(store, url, slug, asked);
  let partners = 0;
  return {
    ...opened,
    clock,
    url,
    credential,
    async caller({ live = false, scopes, ...partner } = {}) {
      const slug = partner.slug ?? `partner-${++partners}`;
      await store.write(createPartner, { name: slug, production: true, actor: "test", ...partner, slug });
      return credential(slug, { live, ...(scopes === undefined ? {} : { scopes }) });
    },
    async fund(partnerId, amount, currency = "AUD") {
      await store.write(creditWallet, { partnerId, amount: minorUnits(amount), currency, actor: "test" });
    },
    fulfill: async () => void (await settled(createFulfillment({ store, log }))),
  };
}

/** One request, its answer read as JSON where it is JSON. */
export async function call(url: string, init: RequestInit = {}): Promise<Reply> {
  const response = await fetch(url, { redirect: "manual", ...init });
  const text = await response.text();
  const isJson = /json/.test(response.headers.get("content-type") ?? "") && text !== "";
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
}

async function newCaller(
  store: Store,
  url: string,
  partner: string,
  { live = false, scopes }: { live?: boolean; scopes?: string[] },
): Promise<Caller> {
  const made = await store.write(createCredential, { partner, live, actor: "test", ...(scopes ? { scopes } : {}) });
  const { client_id, client_secret } = made;
  const { body } = await call(`${url}/api/v1/oauth/token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ grant_type: "client_credentials", client_id, client_secret }),
  });
  const authorization = `Bearer ${body.access_token}`;
  const claims = JSON.parse(Buffer.from(body.access_token.split(".")[1], "base64url").toString());
  return {
    partnerId: claims.sub,
    clientId: client_id,
    clientSecret: client_secret,
    token: body.access_token,
    get: (path, headers = {}) => call(url + path, { headers: { authorization, ...headers } }),
    send: (method, path, payload, headers = {}) =>
      call(url + path, {
        method,
        headers: {
          authorization,
          ...(payload === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(payload === undefined ? {} : { body: typeof payload === "string" ? payload : JSON.stringify(payload) }),
      }),
  };
}
