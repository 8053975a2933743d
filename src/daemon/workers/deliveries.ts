import type { Logger } from "pino";
import type { WebhookId } from "../../core/kernel/brand.ts";
import { claimDeliveries, type DueEndpoint, dueEndpoints } from "../../core/webhooks/claim.ts";
import { type DeliverDependencies, deliver } from "./deliver.ts";
import { startWorker, type Worker } from "./loop.ts";

export interface DeliveriesDependencies extends DeliverDependencies {
  log: Pick<Logger, "error">;
}

/** How many tries may be under way at a time. */
export interface DeliveryBounds {
  overall: number;
  perEndpoint: number;
  /** For an endpoint whose last try failed. */
  perAilingEndpoint: number;
}

const BOUNDS: DeliveryBounds = { overall: 128, perEndpoint: 16, perAilingEndpoint: 2 };

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

/** Sends events to endpoints, fairly: none, slow or dead, takes the room of another. */
export function createDeliveries(deps: DeliveriesDependencies, bounds: DeliveryBounds = BOUNDS): Deliveries {
  const { store, clock, log } = deps;
  const running = new Set<Promise<void>>();
  const busy = new Map<WebhookId, number>();
  let wake = () => {};
  let alarm: NodeJS.Timeout | undefined;

  function lanesOf(due: DueEndpoint[]) {
    // Whoever has nothing under way comes first.
    const idleFirst = due.toSorted((a, b) => (busy.get(a.id) ?? 0) - (busy.get(b.id) ?? 0));
    let free = bounds.overall - running.size;
    const lanes: { endpointId: WebhookId; room: number }[] = [];
    for (const { id, ailing } of idleFirst) {
      const room = roomFor(busy.get(id) ?? 0, free, ailing ? bounds.perAilingEndpoint : bounds.perEndpoint);
      if (room <= 0) continue;
      lanes.push({ endpointId: id, room });
      free -= room;
    }
    return lanes;
  }

  function start(endpointId: WebhookId, run: () => Promise<void>): void {
    busy.set(endpointId, (busy.get(endpointId) ?? 0) + 1);
    const done = run()
      // The lease runs out and the delivery is tried again.
      .catch((error: unknown) => log.error({ err: error, endpoint_id: endpointId }, "delivery failed"))
      .finally(() => {
        running.delete(done);
        const left = (busy.get(endpointId) ?? 1) - 1;
        if (left === 0) busy.delete(endpointId);
        else busy.set(endpointId, left);
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
        const lanes = lanesOf(due);
        if (lanes.length === 0) return;
        const claimed = await store.write(claimDeliveries, { lanes });
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

/**
 * How many more tries an endpoint may start. One that is idle gets a place while there is any; one that is busy may take
 * half of what is free, so that however many are slow, there is room for one that is not.
 */
export function roomFor(underWay: number, free: number, most: number): number {
  const share = underWay === 0 ? Math.max(1, Math.floor(free / 2)) : Math.floor(free / 2);
  return Math.min(most - underWay, share, free);
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
