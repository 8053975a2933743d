import type { Logger } from "pino";
import { Counter, Gauge, type Registry } from "prom-client";
import { raisedAlerts } from "../../core/alerts/settle.ts";
import { type Queue, queueDepths } from "../../core/insight/queues.ts";
import type { Clock } from "../../core/kernel/clock.ts";
import { sharedRun } from "../../core/kernel/shared-run.ts";
import { alertKinds } from "../../core/store/schema/values.ts";
import type { ReplicaLook, ReplicaReads, Store } from "../../core/store/store.ts";

/** Counts the reads of this process that might go to the replica, by the server that answered. */
export function registerReplicaReads(registry: Registry, replica: ReplicaReads | null): void {
  if (replica === null) return;
  let before = { replica: 0, primary: 0 };
  new Counter({
    name: "esimctl_replica_reads_total",
    help: "Lists, exports and reports, by the server that answered: the replica, or the primary in its place.",
    labelNames: ["server"],
    registers: [registry],
    collect() {
      const now = replica.counted();
      for (const server of ["replica", "primary"] as const) this.inc({ server }, now[server] - before[server]);
      before = now;
    },
  });
}

/** Shows how long what is committed takes to be on the replica; nothing while that is unknown. */
export function registerReplicaLag(registry: Registry, replica: { seen(): ReplicaLook | null } | null): void {
  if (replica === null) return;
  new Gauge({
    name: "esimctl_replica_lag_seconds",
    help: "How long what is committed takes to be on the replica; absent while that is unknown.",
    registers: [registry],
    collect() {
      this.reset();
      const lagMs = replica.seen()?.lagMs ?? null;
      if (lagMs === null) this.remove();
      else this.set(lagMs / 1_000);
    },
  });
}

interface GaugeDependencies {
  store: Store;
  clock: Clock;
  log: Pick<Logger, "error">;
}

/**
 * Gauges of every queue of `esimctl status`, held webhook deliveries and orders in review among them. The store is
 * read once at each scrape; when that fails they are absent and the other metrics are still served.
 */
export function registerQueueGauges(registry: Registry, { store, clock, log }: GaugeDependencies): void {
  const queues = sharedRun(() =>
    store.list(queueDepths, null).catch((error: unknown): Queue[] => {
      log.error({ err: error }, "queues could not be measured");
      return [];
    }),
  );

  function gauge(name: string, help: string, measure: (queue: Queue) => number): void {
    new Gauge({
      name,
      help,
      labelNames: ["queue"],
      registers: [registry],
      async collect() {
        const seen = await queues();
        this.reset();
        for (const one of seen) this.set({ queue: one.queue }, measure(one));
      },
    });
  }

  gauge("esimctl_queue_waiting", "Entries waiting in each queue.", ({ waiting }) => waiting);
  gauge(
    "esimctl_queue_oldest_seconds",
    "Age of the oldest entry waiting in each queue; 0 when it is empty.",
    (queue) => (queue.oldest_at === null ? 0 : Math.max(0, (clock.now() - Date.parse(queue.oldest_at)) / 1000)),
  );
}

/** How many alerts of each kind are raised; absent while the store cannot be read. */
export function registerAlertGauge(registry: Registry, { store, log }: { store: Store; log: Pick<Logger, "error"> }) {
  new Gauge({
    name: "esimctl_alerts_raised",
    help: "Alerts that are raised and not over, by kind.",
    labelNames: ["kind"],
    registers: [registry],
    async collect() {
      this.reset();
      const raised = await store.list(raisedAlerts, null).catch((error: unknown) => {
        log.error({ err: error }, "alerts could not be counted");
        return null;
      });
      if (raised === null) return;
      for (const kind of alertKinds) this.set({ kind }, raised.filter((one) => one.kind === kind).length);
    },
  });
}
