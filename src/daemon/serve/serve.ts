import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { isoTimeOrNull } from "../../core/kernel/clock.ts";
import { isLoopbackHost } from "../../core/kernel/http-url.ts";
import { within } from "../../core/kernel/within.ts";
import { SANDBOX_DAYS } from "../../core/orders/purge-sandbox.ts";
import { BEAT_MS, type BeatingDaemon, recordBeat, recordStop } from "../../core/platform/serving.ts";
import { adoptSettings, type SettingKey } from "../../core/platform/settings.ts";
import { isUnavailable } from "../../core/store/problems.ts";
import type { ReplicaLook, ReplicaReads, Topic } from "../../core/store/store.ts";
import { servedAddresses } from "../context/addresses.ts";
import type { Addresses, DaemonContext } from "../context/context.ts";
import { watchOutages } from "../log/watch-outages.ts";
import { borrowedMetrics, createRegistry, type Exposed } from "../metrics/metrics.ts";
import { registerAlertGauge, registerQueueGauges, registerReplicaLag } from "../metrics/store-gauges.ts";
import { type Counters, memoryCounters } from "../plugins/rate-windows.ts";
import { sharedCounters } from "../plugins/shared-windows.ts";
import { startWorkers, type Workers } from "../workers/all.ts";
import { startWorker } from "../workers/loop.ts";
import { watchClock } from "./clock-watch.ts";
import { startFront } from "./front.ts";
import { requireListenable, startMetricsServer } from "./listen.ts";
import type { MainDependencies, ServeOptions } from "./options.ts";
import { prepareStore } from "./prepare-store.ts";

/** A daemon that serves. */
export interface Running {
  /** The address it listens on, e.g. http://127.0.0.1:8080. */
  url: string;
  publicUrl: string;
  metricsUrl: string | null;
  /**
   * Stops accepting, finishes what is in flight (25 s at most), lets the workers finish their step. What is not done
   * after 26.5 s, writes that wait for the database above all, is left to leases and to the closing of the store.
   */
  stop(): Promise<void>;
}

/** How long stopping takes at most (ms). */
const STOP_MS = 26_500;

/** The settings that terminal commands and the daemon read. */
function settingsOf({ publicUrl, docsUrl }: Addresses, options: ServeOptions): Record<SettingKey, string | null> {
  return {
    public_url: publicUrl,
    docs_url: docsUrl,
    allow_private_webhooks: options.allowPrivateWebhooks ? "yes" : "no",
    strict_eid: options.strictEid ? "yes" : "no",
    insecure: options.insecure ? "yes" : "no",
    cleartext: listensInClear(options, publicUrl) ? "yes" : "no",
    inventory_sunset: isoTimeOrNull(options.inventorySunset ?? null),
    sandbox_days: String(options.sandboxDays ?? SANDBOX_DAYS),
  };
}

/** Whether HTTP is answered beyond this machine with nothing that says a proxy in front speaks TLS. */
export function listensInClear({ host }: Pick<ServeOptions, "host">, publicUrl: string): boolean {
  return !isLoopbackHost(host) && !publicUrl.startsWith("https:");
}

/** Makes the settings of this start those of the platform, and logs each that changed. Throws `SettingsDifferError`. */
async function takeSettings(
  { store, log, alone }: MainDependencies,
  values: Record<SettingKey, string | null>,
  { takeOverSettings }: ServeOptions,
): Promise<void> {
  const changes = await store.write(adoptSettings, { values, takeOver: alone || takeOverSettings });
  for (const change of changes) log.info({ event: "setting_changed", ...change }, "a setting of the platform changed");
}

/**
 * Serves the platform on an open store, which stays open. Throws `SettingsDifferError`, and `ListenError` when an
 * address cannot be bound; then the settings of the platform stay as they were.
 */
export async function serve(given: MainDependencies, options: ServeOptions): Promise<Running> {
  const { log } = given;
  const watched = watchOutages(given.store, log);
  const { store } = watched;
  const deps = { ...given, store };
  await requireListenable(options);
  const { port, addresses } = await servedAddresses(options);
  await prepareStore(store);
  await takeSettings(deps, settingsOf(addresses, options), options);
  const clocks = await watchClock(deps);
  const context = { ...deps, addresses, isClockOff: clocks.isOff };
  const node = given.ids.uuid(given.clock.now());
  const replica = store.replica && watchReplica(store.replica, log);
  const { allowPrivateWebhooks, smtpUrl, insecure, dataDirectory } = options;
  const unwatch = async () => {
    await Promise.all([clocks.stop(), replica?.stop()]);
    watched.stop();
  };
  // Workers start once the address is bound; what fronts commit before, the workers find when they start.
  let workers: Workers | null = null;
  const wake = (topic: Topic) => workers?.wake(topic);
  const http = await startHttp(context, options, { port, wake }).catch(async (error: unknown) => {
    await unwatch();
    throw error;
  });
  const { metricsPort } = options;
  let metricsServer: Awaited<ReturnType<typeof startMetricsServer>> | null = null;
  let heart: Awaited<ReturnType<typeof startHeart>> | null = null;
  try {
    if (metricsPort !== undefined) metricsServer = await startMetricsServer(http.metrics, metricsPort);
    workers = startWorkers({ ...context, node, allowPrivateWebhooks, smtpUrl, insecure, dataDirectory });
    const { runsCron } = workers;
    const state = () => ({ clockAheadMs: clocks.aheadMs(), runsCron: runsCron(), replica: replica?.seen() ?? null });
    heart = await startHeart(deps, { node, url: http.url, sendsMail: smtpUrl !== undefined, state });
  } catch (error) {
    // Without its workers the daemon must not serve.
    metricsServer?.close();
    await http.stop();
    await unwatch();
    throw error;
  }

  // Only feeds are waited for in the processes that answer HTTP; all else the workers do.
  registerReplicaLag(http.own, replica);
  const listening = store.nodes?.listen((topic) => void (topic === "events" && http.signal(topic)));

  return {
    url: http.url,
    publicUrl: addresses.publicUrl,
    metricsUrl: metricsServer?.url ?? null,
    async stop() {
      const ending = Promise.all([http.stop(), workers?.stop()]).then(() => heart?.stop());
      const watching = [listening?.stop(), replica?.stop(), clocks.stop()];
      const ended = await within(Promise.all([ending, ...watching]), STOP_MS);
      if (!ended) log.warn({ event: "stop_cut_off" }, "not all work ended in time: leases leave it to others");
      watched.stop();
      metricsServer?.close();
    },
  };
}

interface RunningHttp {
  url: string;
  metrics: Exposed;
  /** The metrics of this process. */
  own: Registry;
  /** Wakes what waits for a topic in the processes that answer HTTP, where they are others than this one. */
  signal(topic: Topic): void;
  stop(): Promise<void>;
}

/** Serves HTTP, in this process or in as many others as the options say. */
async function startHttp(
  context: MainDependencies & DaemonContext,
  options: ServeOptions,
  { port, wake }: { port: number; wake: (topic: Topic) => void },
): Promise<RunningHttp> {
  const counters = countersOf(context);
  if (options.workers === 1) {
    const front = await startFront(context, options, { port, counters });
    registerGauges(front.registry, context);
    return { url: front.url, metrics: front.registry, own: front.registry, signal: () => undefined, stop: front.stop };
  }
  const { startFronts } = await import("./fronts.ts");
  const { addresses, log, keepLine, frontEnv: env } = context;
  const fronts = await startFronts({ count: options.workers, port, addresses, counters, log, wake, keepLine, env });
  const queues = createRegistry();
  registerGauges(queues, context);
  const { url, signal, stop } = fronts;
  return { url, metrics: borrowedMetrics(queues), own: queues, signal, stop };
}

function registerGauges(registry: Registry, context: MainDependencies & DaemonContext): void {
  registerQueueGauges(registry, context);
  registerAlertGauge(registry, context);
}

/** Counts requests in this process, or together with the other nodes of the database. */
function countersOf({ store, clock, log }: MainDependencies): Counters {
  const { nodes, vault } = store;
  return nodes === null ? memoryCounters(clock) : sharedCounters({ nodes, vault, clock, log });
}

/** Whose heart it is, and how it does at each beat. */
interface HeartOf {
  node: string;
  url: string;
  sendsMail: boolean;
  state: () => Pick<BeatingDaemon, "clockAheadMs" | "runsCron" | "replica">;
}

/**
 * Records every 10 s that this daemon serves at `url`, and at its end that it was stopped. Resolves once the first
 * record is written, or cannot be.
 */
async function startHeart(
  { store, clock, log, alone }: MainDependencies,
  { node, url, sendsMail, state }: HeartOf,
): Promise<{ stop(): Promise<void> }> {
  const since = clock.now();
  const daemon = { node, url, since, alone };
  const first = Promise.withResolvers<void>();
  const beating = startWorker({
    name: "heartbeat",
    pollMs: BEAT_MS,
    log,
    step: () => store.write(recordBeat, { ...daemon, sendsMail, ...state() }).finally(first.resolve),
  });
  await first.promise;
  return {
    async stop() {
      await beating.stop();
      await store.write(recordStop, daemon).catch((error: unknown) => {
        // Later it is found to be lost.
        if (!isUnavailable(error)) throw error;
      });
    },
  };
}

/** How often the replica is looked at (ms). */
const LOOK_MS = 2_000;

/** Knows how the replica of this node follows. */
interface ReplicaWatch {
  /** What was seen last; null: it has not looked yet. */
  seen(): ReplicaLook | null;
  stop(): Promise<void>;
}

/** Watches until it is stopped, and logs when reads go to the primary in place of the replica, and when to it again. */
function watchReplica(replica: ReplicaReads, log: Pick<Logger, "error" | "warn" | "info">): ReplicaWatch {
  let seen: ReplicaLook | null = null;

  async function look(): Promise<void> {
    const before = seen?.state;
    const { state, lagMs, detail } = await replica.look();
    seen = { state, lagMs, detail };
    if (state === before) return;
    if (state === "used") log.info({ event: "replica_used", lag_ms: lagMs }, "lists are read from the replica");
    else log.warn({ event: "replica_unused", state, lag_ms: lagMs, detail }, "lists are read from the primary");
  }

  const watching = startWorker({ name: "replica watch", pollMs: LOOK_MS, step: look, log });
  return { seen: () => seen, stop: watching.stop };
}
