import type { Logger } from "pino";
import { claimOrders, fulfilLeased, postponeOrder, releaseOrders, waitingOrders } from "../../core/orders/due.ts";
import { type PartnerQueue, queueName } from "../../core/store/due-keys.ts";
import type { Lease } from "../../core/store/lease.ts";
import type { Store } from "../../core/store/store.ts";
import { playSupplier } from "../../core/supplies/scenario.ts";
import { claimEach, createPool, type Pool, type PoolWork } from "./pool.ts";
import type { Bounds, Lane } from "./share.ts";

/** What fulfilment needs. */
export interface FulfilmentDependencies {
  store: Store;
  log: Pick<Logger, "error">;
}

/** Orders worked at the same time; their steps share commits. */
const BOUNDS: Bounds = { overall: 32, production: 28, sandbox: 16, perKey: 32, perLane: 16 };
const FAULT_DELAY_MS = 30_000;

type PartnerLane = Lane & PartnerQueue;

interface Claimed {
  lease: Lease<"orders">;
  owner: PartnerQueue;
}

/** Takes orders as far as they go by themselves: fulfilled, or waiting for people. A lane for each partner's orders. */
export function createFulfilment({ store, log }: FulfilmentDependencies): Pool {
  const work: PoolWork<PartnerLane, Claimed, never> = {
    name: "fulfilment",
    bounds: BOUNDS,
    async due() {
      const { due, waitMs } = await store.read(waitingOrders, null);
      return { lanes: due.map(laneOf), waitMs };
    },
    turn: (rooms) => {
      const claim = async ({ environment, partnerId }: PartnerLane, room: number) => {
        const owner = { environment, partnerId };
        // Claims of the sandbox do not wait with its orders: a turn claims for all lanes, and ends with the last claim.
        return (await store.write(claimOrders, { ...owner, room })).map((lease) => ({ lease, owner }));
      };
      return claimEach(rooms, claim, log);
    },
    async work(claimed, stopping) {
      await fulfil(store, claimed, { stopping, log });
      return null;
    },
    release: (claimed) =>
      store.write(
        releaseOrders,
        claimed.map(({ lease }) => lease),
      ),
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

async function fulfil(store: Store, { lease, owner }: Claimed, { stopping, log }: Running): Promise<void> {
  try {
    while ((await nextStep(store, { lease, owner })) === "more") {
      if (stopping.aborted) return await store.write(releaseOrders, [lease]);
    }
  } catch (error) {
    log.error({ err: error, order_id: lease.id }, "fulfilment failed");
    await store.write(postponeOrder, { lease, delayMs: FAULT_DELAY_MS });
  }
}

async function nextStep(store: Store, { lease, owner }: Claimed) {
  const outcome = await store.write(fulfilLeased, lease, undefined, owner);
  return outcome === "supplier" ? store.write(playSupplier, lease, undefined, owner) : outcome;
}
