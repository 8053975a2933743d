import type { Logger } from "pino";
import { Gauge, type Registry } from "prom-client";
import { raisedAlerts } from "../../core/alerts/settle.ts";
import { alertKinds } from "../../core/store/schema/values.ts";
import type { Store } from "../../core/store/store.ts";

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
