import type { Logger } from "pino";
import type { DaemonContext } from "../context.ts";
import { createWebhookSender } from "../gateways/webhook-sender.ts";
import { startDeliveries } from "./deliveries.ts";
import { fulfilDueOrders } from "./fulfilment.ts";
import { startWorker, type Worker } from "./loop.ts";
import { purgeOldDeliveries } from "./webhook-retention.ts";

export interface WorkerContext extends DaemonContext {
  log: Logger;
  allowPrivateWebhooks: boolean;
}

const HOUR_MS = 3_600_000;

/** Starts everything that runs by itself; `stop` lets each finish what it is doing. */
export function startWorkers(context: WorkerContext): { stop(): Promise<void> } {
  const { store, log } = context;
  const workers: Worker[] = [];
  const stopListening: (() => void)[] = [];

  const fulfilment = startWorker({
    name: "fulfilment",
    pollMs: 1_000,
    step: (signal) => fulfilDueOrders({ store, log }, signal),
    log,
  });
  workers.push(fulfilment);
  stopListening.push(store.onSignal("fulfilment", fulfilment.wake));

  const sender = createWebhookSender({ allowPrivate: context.allowPrivateWebhooks });
  const deliveries = startDeliveries({ ...context, sender, publicUrl: context.addresses.publicUrl });
  workers.push(deliveries);
  stopListening.push(store.onSignal("deliveries", deliveries.wake));

  const step = (signal: AbortSignal) => purgeOldDeliveries({ store }, signal);
  workers.push(startWorker({ name: "webhook retention", pollMs: HOUR_MS, step, log }));

  return {
    async stop() {
      for (const stop of stopListening) stop();
      await Promise.all(workers.map((worker) => worker.stop()));
    },
  };
}
