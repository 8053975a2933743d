import type { Registry } from "prom-client";
import { createTokens, expiredToken, type Tokens } from "../../core/credentials/tokens.ts";
import { Problem } from "../../core/kernel/problem.ts";
import { within } from "../../core/kernel/within.ts";
import { type Authenticate, type DaemonContext, STOP_GRACE_MS } from "../context/context.ts";
import { buildApp } from "../http/app.ts";
import { createMetrics } from "../metrics/metrics.ts";
import { countRequests, keepRefused } from "../metrics/request-records.ts";
import { registerReplicaReads } from "../metrics/store-gauges.ts";
import type { Counters } from "../plugins/rate-windows.ts";
import { allRoutes } from "../routes/by-resource.ts";
import { drain, listen } from "./listen.ts";
import type { Logged, ServeOptions } from "./options.ts";

/** How long (ms) a front that stops waits for what it last noted of requests to be written. */
const COUNTS_MS = 1_000;

/** What answers HTTP. */
export interface Front {
  /** The address it listens on. */
  url: string;
  /** The metrics of its process and of what it answered. */
  registry: Registry;
  /** Stops accepting and finishes what is in flight (25 s at most). */
  stop(): Promise<void>;
}

/** Answers HTTP on `port` until it is stopped. Throws `ListenError`. */
export async function startFront(
  context: DaemonContext & Logged,
  { host, trustProxy, pages, smtpUrl }: Pick<ServeOptions, "host" | "trustProxy" | "pages" | "smtpUrl">,
  { port, counters }: { port: number; counters: Counters },
): Promise<Front> {
  const { addresses, log } = context;
  const tokens = createTokens({ ...context, issuer: addresses.publicUrl });
  const metrics = createMetrics();
  registerReplicaReads(metrics.registry, context.store.replica);
  const requestCounts = countRequests(context);
  const refusedRequests = keepRefused(context);
  const mail = smtpUrl !== undefined ? "sent" : context.store.nodes === null ? "none" : "perhaps";
  const app = buildApp(
    { ...context, mail },
    {
      authenticate: bearerTokens(tokens),
      counters,
      trustProxy,
      logger: log,
      metrics: {
        record(request) {
          metrics.record(request);
          requestCounts.record(request);
          refusedRequests.record(request);
        },
      },
      routes: [...(await allRoutes(tokens)), ...(pages ? [(await import("../../web/register.tsx")).webRoutes] : [])],
    },
  );
  const url = await listen(app, { host, port });
  return {
    url,
    registry: metrics.registry,
    async stop() {
      await drain(app, STOP_GRACE_MS);
      await within(Promise.all([requestCounts.stop(), refusedRequests.stop()]), COUNTS_MS);
    },
  };
}

/** The token of an Authorization header; undefined when it holds none. */
function tokenIn(authorization: string): string | undefined {
  // As nearly every client writes it: a JWT, which is looked at further when it is verified.
  if (authorization.startsWith("Bearer ey") && !authorization.endsWith(" ")) return authorization.slice(7);
  return /^Bearer +([A-Za-z0-9._~+/=-]+) *$/i.exec(authorization)?.[1];
}

/** Authentication by the Bearer tokens that this daemon issues (contract: Authentication, 3-5). */
export function bearerTokens(tokens: Tokens): Authenticate {
  return async (authorization, ip) => {
    const token = authorization === undefined ? undefined : tokenIn(authorization);
    if (token === undefined) {
      const detail =
        authorization === undefined
          ? "The Authorization header is missing."
          : "The Authorization header is not a Bearer token.";
      throw new Problem("unauthorized", detail);
    }
    const verified = await tokens.verify(token, ip);
    if ("expired" in verified) return { refusal: expiredToken(), counted: verified.expired };
    const { client, scopes, expiresAt } = verified;
    const { clientId, partnerId, partner, environment, identity, priceList } = client;
    const { ratePerMinute, partnerPerMinute } = client;
    const rates = { ratePerMinute, partnerPerMinute };
    return { partnerId, partner, clientId, environment, scopes, identity, priceList, ...rates, expiresAt };
  };
}
