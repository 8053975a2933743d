import type { Logger } from "pino";
import type { DaemonContext } from "../context.ts";
import { fulfilDueOrders } from "./fulfilment.ts";
import { startWorker, type Worker } from "./loop.ts";

export interface WorkerContext extends DaemonContext {
  log: Logger;
  allowPrivateWebhooks: boolean;
}

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

  return {
    async stop() {
      for (const stop of stopListening) stop();
      await Promise.all(workers.map((worker) => worker.stop()));
    },
  };
}
