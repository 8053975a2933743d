import type { Logger } from "pino";
import type { WebhookId } from "../../core/kernel/brand.ts";
import { claimDeliveries, dueEndpoints } from "../../core/webhooks/claim.ts";
import { type DeliverDependencies, deliver } from "./deliver.ts";
import { createLanes, type DeliveryBounds } from "./lanes.ts";
import { startWorker, type Worker } from "./loop.ts";

/** What the delivery worker stands on. */
export interface DeliveriesDependencies extends DeliverDependencies {
  log: Pick<Logger, "error">;
}

const BOUNDS: DeliveryBounds = { overall: 128, perEndpoint: 16, perAilingEndpoint: 2 };

/** The delivery worker, one step at a time. */
export interface Deliveries {
  /** Starts tries of what is due, as far as there is room, and does not wait for them. */
  step(signal: AbortSignal): Promise<void>;
  /** Resolves once no try is under way. */
  idle(): Promise<void>;
  /** Called when it is worth calling `step` again: a try ended, or one that waited is due. */
  onChange(wake: () => void): void;
  /** Wakes nobody any more. */
  close(): void;
}

/** Sends events to endpoints, each on a lane of its own. */
export function createDeliveries(deps: DeliveriesDependencies, bounds: DeliveryBounds = BOUNDS): Deliveries {
  const { store, clock, log } = deps;
  const lanes = createLanes(bounds);
  const running = new Set<Promise<void>>();
  let wake = () => {};
  let alarm: NodeJS.Timeout | undefined;

  function start(endpointId: WebhookId, run: () => Promise<void>): void {
    lanes.enter(endpointId);
    const done = run()
      // The lease runs out and the delivery is tried again.
      .catch((error: unknown) => log.error({ err: error, endpoint_id: endpointId }, "delivery failed"))
      .finally(() => {
        running.delete(done);
        lanes.leave(endpointId);
        wake();
      });
    running.add(done);
  }

  function setAlarm(at: number | null): void {
    clearTimeout(alarm);
    if (at !== null) alarm = setTimeout(() => wake(), Math.max(0, at - clock.now())).unref();
  }

  return {
    async step(signal) {
      while (!signal.aborted) {
        // More than can be busy: one that is not is among them.
        const { due, nextAt } = await store.read(dueEndpoints, { limit: bounds.overall * 2 });
        setAlarm(nextAt);
        const shared = lanes.share(due);
        if (shared.length === 0) return;
        const claimed = await store.write(claimDeliveries, { lanes: shared });
        for (const one of claimed) start(one.endpoint.id, () => deliver(deps, one));
      }
    },
    async idle() {
      while (running.size > 0) await Promise.all(running);
    },
    onChange(call) {
      wake = call;
    },
    close() {
      wake = () => {};
      clearTimeout(alarm);
    },
  };
}

/** Runs deliveries until it is stopped: then the tries under way end by themselves, within their time limit. */
export function startDeliveries(deps: DeliveriesDependencies): Worker {
  const deliveries = createDeliveries(deps);
  const worker = startWorker({ name: "deliveries", pollMs: 1_000, step: deliveries.step, log: deps.log });
  deliveries.onChange(worker.wake);
  return {
    wake: worker.wake,
    async stop() {
      deliveries.close();
      await worker.stop();
      await deliveries.idle();
      await deps.sender.close();
    },
  };
}
