import type { Logger } from "pino";
import { isUnavailable } from "../../core/store/problems.ts";
import { type ClaimedDelivery, dueEndpoints, type Lane } from "../../core/webhooks/claim.ts";
import { applyOutcomes, type Outcome } from "../../core/webhooks/outcome.ts";
import { takeTurn } from "../../core/webhooks/turn.ts";
import { type DeliverDependencies, deliver } from "./deliver.ts";
import { createLanes, type DeliveryBounds } from "./lanes.ts";
import { startWorker, type Worker } from "./loop.ts";

/** What the delivery worker stands on. */
export interface DeliveriesDependencies extends DeliverDependencies {
  log: Pick<Logger, "error">;
}

const BOUNDS: DeliveryBounds = { overall: 256, perEndpoint: 32, perAilingEndpoint: 2 };

/** The delivery worker, one step at a time. */
export interface Deliveries {
  /** Writes what came back, starts tries of what is due as far as there is room, and does not wait for them. */
  step(signal: AbortSignal): Promise<void>;
  /** Resolves once no try is under way and all that came back is written. */
  idle(): Promise<void>;
  /** Called when it is worth calling `step` again: a try ended, or one that waited is due. */
  onChange(wake: () => void): void;
  /** Wakes nobody any more. */
  close(): void;
}

/** Sends events to endpoints, each on a lane of its own. */
export function createDeliveries(deps: DeliveriesDependencies, bounds: DeliveryBounds = BOUNDS): Deliveries {
  const { store, clock } = deps;
  const lanes = createLanes(bounds);
  const running = new Set<Promise<void>>();
  let cameBack: Outcome[] = [];
  let wake = () => {};
  let alarm: NodeJS.Timeout | undefined;

  function start(claimed: ClaimedDelivery): void {
    const { id } = claimed.endpoint;
    lanes.enter(id);
    const done = deliver(deps, claimed)
      .then((outcome) => outcome !== null && cameBack.push(outcome))
      // The lease runs out and the delivery is tried again.
      .catch((error: unknown) => deps.log.error({ err: error, endpoint_id: id }, "delivery failed"))
      .then(() => {
        running.delete(done);
        lanes.leave(id);
        wake();
      });
    running.add(done);
  }

  async function turn(shared: Lane[]): Promise<void> {
    const outcomes = cameBack;
    cameBack = [];
    try {
      for (const claimed of await turnOrSalvage(deps, outcomes, shared)) start(claimed);
    } catch (error) {
      cameBack.unshift(...outcomes);
      throw error;
    }
  }

  return {
    async step(signal) {
      while (!signal.aborted) {
        // More than can be busy: one that is not is among them.
        const { due, nextAt } = await store.read(dueEndpoints, { limit: bounds.overall * 2 });
        clearTimeout(alarm);
        if (nextAt !== null) alarm = setTimeout(() => wake(), Math.max(0, nextAt - clock.now())).unref();
        const shared = lanes.share(due);
        if (shared.length === 0 && cameBack.length === 0) return;
        await turn(shared);
      }
    },
    async idle() {
      while (running.size > 0) await Promise.all(running);
      await turn([]).catch(leaveToLeases);
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

/** What an outage keeps from being written at the end is delivered again once its lease has run out. */
function leaveToLeases(error: unknown): void {
  if (!isUnavailable(error)) throw error;
}

/**
 * One turn. An outcome that cannot be written must not take the others with it: then each is written alone. Throws
 * while the database is unavailable.
 */
async function turnOrSalvage(deps: DeliveriesDependencies, outcomes: Outcome[], lanes: Lane[]) {
  const { store, log } = deps;
  try {
    return await store.write(takeTurn, { outcomes, lanes });
  } catch (error) {
    if (isUnavailable(error)) throw error;
    log.error({ err: error }, "webhook outcomes could not be written together");
    for (const outcome of outcomes) {
      await store.write(applyOutcomes, [outcome]).catch((cause: unknown) => {
        log.error({ err: cause, delivery_id: outcome.id }, "a webhook outcome could not be written");
      });
    }
    return [];
  }
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
