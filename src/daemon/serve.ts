import type { Logger } from "pino";
import { createTokens } from "../core/credentials/tokens.ts";
import { type Clock, isoTimeOrNull } from "../core/kernel/clock.ts";
import type { Ids } from "../core/kernel/ids.ts";
import { writeSettings } from "../core/store/settings.ts";
import type { Store } from "../core/store/store.ts";
import { type ServedAt, servedAddresses } from "./addresses.ts";
import { buildApp } from "./app.ts";
import type { Addresses } from "./context.ts";
import { drain, listen } from "./listen.ts";
import { createMetrics, startMetricsServer } from "./metrics.ts";
import { bearerTokens } from "./plugins/authentication.ts";
import { prepareStore } from "./prepare.ts";
import { registerQueueGauges } from "./queue-gauges.ts";
import { countRequests } from "./request-counts.ts";
import { allRoutes } from "./routes/all.ts";
import { startWorkers } from "./workers/all.ts";

/** How the platform is to be served. */
export interface ServeOptions extends ServedAt {
  trustProxy: boolean;
  allowPrivateWebhooks: boolean;
  /** Refuses EIDs with a wrong check digit. */
  strictEid: boolean;
  /** When the deprecated inventory endpoint ends (ms); left out: nothing is announced. */
  inventorySunset?: number | undefined;
  /** Where /metrics listens on loopback; left out: nowhere. */
  metricsPort?: number | undefined;
  /** Where mail to suppliers goes out, e.g. smtp://user:password@host:587; left out: nowhere. */
  smtpUrl?: string | undefined;
}

/** What serving stands on. */
export interface ServeDependencies {
  store: Store;
  clock: Clock;
  ids: Ids;
  log: Logger;
}

/** A daemon that answers. */
export interface Running {
  /** The address it listens on, e.g. http://127.0.0.1:8080. */
  url: string;
  publicUrl: string;
  metricsUrl: string | null;
  /** Stops accepting, finishes what is in flight (30 s at most), lets the workers finish their step. */
  stop(): Promise<void>;
}

const DRAIN_MS = 30_000;

/** What terminal commands, and the daemon itself, need to know of how it is served. */
function settingsOf({ publicUrl, docsUrl }: Addresses, options: ServeOptions): Parameters<typeof writeSettings>[1] {
  return {
    public_url: publicUrl,
    docs_url: docsUrl,
    allow_private_webhooks: options.allowPrivateWebhooks ? "yes" : "no",
    strict_eid: options.strictEid ? "yes" : "no",
    inventory_sunset: isoTimeOrNull(options.inventorySunset ?? null),
  };
}

/** Serves the platform on an open store. Throws `ListenError` when an address cannot be had. The store stays open. */
export async function serve(deps: ServeDependencies, options: ServeOptions): Promise<Running> {
  const { store, clock, ids, log } = deps;
  const { port, addresses } = await servedAddresses(options);
  await prepareStore(store);
  await store.write(writeSettings, settingsOf(addresses, options));
  const tokens = createTokens({ store, clock, ids, issuer: addresses.publicUrl });
  const metrics = createMetrics();
  registerQueueGauges(metrics.registry, deps);
  const requestCounts = countRequests(deps);
  const context = { store, clock, ids, addresses };
  const app = buildApp(context, {
    authenticate: bearerTokens(tokens),
    rateLimits: true,
    trustProxy: options.trustProxy,
    logger: log,
    metrics: {
      answered(request) {
        metrics.answered(request);
        requestCounts.answered(request);
      },
    },
    routes: allRoutes(tokens),
  });
  const url = await listen(app, { host: options.host, port });
  const metricsServer = options.metricsPort === undefined ? null : await metricsOrClose(options.metricsPort);
  const { allowPrivateWebhooks, smtpUrl } = options;
  const workers = startWorkers({ ...context, log, allowPrivateWebhooks, smtpUrl });

  async function metricsOrClose(metricsPort: number) {
    return startMetricsServer(metrics.registry, metricsPort).catch(async (error: unknown) => {
      await app.close();
      throw error;
    });
  }

  return {
    url,
    publicUrl: addresses.publicUrl,
    metricsUrl: metricsServer?.url ?? null,
    async stop() {
      await Promise.all([drain(app, DRAIN_MS), workers.stop()]);
      await requestCounts.stop();
      metricsServer?.close();
    },
  };
}
