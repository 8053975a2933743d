import type { Logger } from "pino";
import {
  claimOrders,
  fulfillLeased,
  type OrderLease,
  postponeOrder,
  releaseOrders,
  waitingOrders,
} from "../../core/orders/due.ts";
import { type PartnerQueue, queueName } from "../../core/platform/due-keys.ts";
import type { Store } from "../../core/store/store.ts";
import { playSupplier } from "../../core/supplier-requests/scenario.ts";
import { claimEach, createPool, type Pool, type PoolWork } from "./pool.ts";
import type { Bounds, Lane } from "./share.ts";

/** What fulfillment needs. */
export interface FulfillmentDependencies {
  store: Store;
  log: Pick<Logger, "error">;
}

/** Orders worked at the same time; their steps share commits. */
const BOUNDS: Bounds = { overall: 32, production: 28, sandbox: 16, perKey: 32, perLane: 16 };
const FAULT_DELAY_MS = 30_000;

type PartnerLane = Lane & PartnerQueue;

/** Takes orders as far as they go by themselves: fulfilled, or waiting for people. A lane for each partner's orders. */
export function createFulfillment({ store, log }: FulfillmentDependencies): Pool {
  const work: PoolWork<PartnerLane, OrderLease, never> = {
    name: "fulfillment",
    bounds: BOUNDS,
    async due() {
      const { due, waitMs } = await store.read(waitingOrders, null);
      return { lanes: due.map(laneOf), waitMs };
    },
    turn: (rooms) => {
      // Claims of the sandbox do not wait with its orders: a turn claims for all lanes, and ends with the last claim.
      const claim = ({ environment, partnerId }: PartnerLane, room: number) =>
        store.write(claimOrders, { environment, partnerId, room });
      return claimEach(rooms, claim, log);
    },
    async work(lease, stopping) {
      await fulfill(store, lease, { stopping, log });
      return null;
    },
    release: (leases) => store.write(releaseOrders, leases),
  };
  return createPool(work, log);
}

function laneOf(queue: PartnerQueue): PartnerLane {
  const id = queueName(queue);
  return { ...queue, id, key: id, sandbox: queue.environment === "sandbox" };
}

interface Running {
  stopping: AbortSignal;
  log: Pick<Logger, "error">;
}

async function fulfill(store: Store, lease: OrderLease, { stopping, log }: Running): Promise<void> {
  try {
    while ((await nextStep(store, lease)) === "more") {
      if (stopping.aborted) return await store.write(releaseOrders, [lease]);
    }
  } catch (error) {
    log.error({ err: error, order_id: lease.id }, "fulfillment failed");
    await store.write(postponeOrder, { lease, delayMs: FAULT_DELAY_MS });
  }
}

async function nextStep(store: Store, lease: OrderLease) {
  const outcome = await store.write(fulfillLeased, lease, undefined, lease);
  return outcome === "supplier" ? store.write(playSupplier, lease, undefined, lease) : outcome;
}
