import type { Logger } from "pino";
import { onTestFinished } from "vitest";
import { scopes } from "../../src/core/credentials/scopes.ts";
import type { PartnerId } from "../../src/core/kernel/brand.ts";
import { randomIds } from "../../src/core/kernel/ids.ts";
import { Problem } from "../../src/core/kernel/problem.ts";
import type { Store } from "../../src/core/store/store.ts";
import type { Authenticate, DaemonContext, Principal } from "../../src/daemon/context/context.ts";
import type { App, RoutePlugin } from "../../src/daemon/context/fastify.ts";
import { buildApp } from "../../src/daemon/http/app.ts";
import type { Metrics } from "../../src/daemon/metrics/metrics.ts";
import { memoryCounters } from "../../src/daemon/plugins/rate-windows.ts";
import { listen } from "../../src/daemon/serve/listen.ts";
import { type TestClock, testClock } from "./clock.ts";
import { openTestStore } from "./store.ts";

/** The daemon's HTTP side with a test's own routes, on a socket of its own. */
export interface TestServer {
  app: App;
  url: string;
  port: number;
  clock: TestClock;
  context: DaemonContext;
}

/** Bearer tokens of a made-up directory: the token's text → who it is. */
export function knownTokens(callers: Record<string, Partial<Principal>>): Authenticate {
  return async (authorization) => {
    const token = authorization?.replace(/^Bearer /, "");
    const caller = token === undefined ? undefined : callers[token];
    if (caller === undefined) throw new Problem("unauthorized", "The Authorization header is missing or wrong.");
    return {
      partnerId: randomIds().uuid(0) as PartnerId, // a partner that only this test knows
      partner: "known",
      clientId: `sk_test_${token}`,
      environment: "sandbox",
      scopes,
      ratePerMinute: 60,
      ...caller,
    };
  };
}

interface TestServerOptions {
  /** A store that the test closes itself; else a fresh one. */
  store?: Store;
  routes?: RoutePlugin[];
  authenticate?: Authenticate;
  clock?: TestClock;
  trustProxy?: boolean;
  logger?: Logger;
  metrics?: Metrics;
  /** Left out: https://esim.example. */
  publicUrl?: string;
}

/** The app alone, not listening. */
export function testApp(context: DaemonContext, options: TestServerOptions = {}): App {
  return buildApp(context, {
    authenticate: options.authenticate ?? knownTokens({ good: {} }),
    counters: memoryCounters(context.clock),
    trustProxy: options.trustProxy ?? false,
    logger: options.logger ?? false,
    routes: options.routes ?? [],
    ...(options.metrics === undefined ? {} : { metrics: options.metrics }),
  });
}

/** Builds the app over a fresh store and listens on a free loopback port until the test ends. */
export async function startServer(options: TestServerOptions = {}): Promise<TestServer> {
  const clock = options.clock ?? testClock();
  const store = options.store ?? (await openTestStore(clock)).store;
  const publicUrl = options.publicUrl ?? "https://esim.example";
  const addresses = { publicUrl, docsUrl: `${publicUrl}/docs` };
  const context: DaemonContext = { store, clock, ids: randomIds(), addresses };
  const app = testApp(context, options);
  onTestFinished(() => app.close());
  const url = await listen(app, { host: "127.0.0.1", port: 0 });
  return { app, url, port: Number(new URL(url).port), clock, context };
}
