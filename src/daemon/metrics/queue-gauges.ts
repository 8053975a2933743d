import type { Logger } from "pino";
import { Gauge, type Registry } from "prom-client";
import { raisedAlerts } from "../../core/alerts/settle.ts";
import { type Queue, queueDepths } from "../../core/insight/queues.ts";
import type { Clock } from "../../core/kernel/clock.ts";
import { sharedRun } from "../../core/kernel/shared-run.ts";
import { alertKinds } from "../../core/store/schema/values.ts";
import type { Store } from "../../core/store/store.ts";

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
