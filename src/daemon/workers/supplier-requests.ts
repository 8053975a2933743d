import { Problem } from "../../core/kernel/problem.ts";
import type { Store } from "../../core/store/store.ts";
import { applySupplyOutcome } from "../../core/supplier-requests/apply-outcome.ts";
import {
  type ClaimedItem,
  claimItems,
  contactToSend,
  isSupplyOverdue,
  postponeItem,
  releaseItems,
  reviewOverdueItems,
  type SupplierQueue,
  waitingItems,
} from "../../core/supplier-requests/due.ts";
import { isProvider } from "../../core/suppliers/supplier.ts";
import { MAILS_AT_ONCE } from "../gateways/mailer.ts";
import type { SupplierGateway } from "../gateways/suppliers.ts";
import { type BuyDependencies, buyUnit } from "./buy-unit.ts";
import { drained } from "./loop.ts";
import { claimEach, createPool, type Pool, type PoolWork } from "./pool.ts";
import { noteExchange } from "./reach.ts";
import type { Bounds, Lane } from "./share.ts";

/** What the worker for suppliers needs. */
export interface SupplyDependencies extends BuyDependencies {
  gateway: SupplierGateway;
}

/** Requests to suppliers in flight at the same time. No sandbox order reaches a supplier. */
const BOUNDS: Bounds = { overall: 64, production: 64, sandbox: 0, perKey: 32, perLane: 16 };
const FAULT_DELAY_MS = 60_000;

type SupplierLane = Lane & SupplierQueue;

/** Sends items to their suppliers: a lane for each supplier. Those reached by mail share the mail server. */
export function createSupplies(deps: SupplyDependencies): Pool {
  const { store, log } = deps;
  const work: PoolWork<SupplierLane, ClaimedItem, never> = {
    name: "supplies",
    bounds: BOUNDS,
    async due() {
      const { due, waitMs } = await store.read(waitingItems, null);
      return { lanes: due.map(laneOf), waitMs };
    },
    turn: (rooms) => claimEach(rooms, ({ supplier }, room) => store.write(claimItems, { supplier, room }), log),
    work: (claimed) => supply(deps, claimed),
    release: (items) =>
      store.write(
        releaseItems,
        items.map(({ lease }) => lease),
      ),
  };
  return createPool(work, log);
}

function laneOf(queue: SupplierQueue): SupplierLane {
  // No supplier's name has a space.
  const own = queue.adapter === "email" ? { key: "mail server", perKey: MAILS_AT_ONCE } : { key: queue.supplier };
  return { ...queue, ...own, id: queue.supplier, sandbox: false };
}

/** Holds the orders whose supplier gave no final answer in time. */
export async function reviewOverdue(store: Store, signal: AbortSignal): Promise<void> {
  if (!(await store.read(isSupplyOverdue, null))) return;
  await drained(signal, () => store.write(reviewOverdueItems, { limit: 100 }));
}

async function supply(deps: SupplyDependencies, claimed: ClaimedItem): Promise<null> {
  const { store, gateway, log } = deps;
  const { lease, item } = claimed;
  const { id, supplier } = item;
  try {
    const held = await store.read(contactToSend, { lease, supplier });
    if (held === null) return null;
    if (held.contact !== null && isProvider(held.contact.adapter)) {
      await buyUnit(deps, claimed, held.contact);
      return null;
    }
    const { outcome, statusCode, latencyMs } = await gateway.send(claimed, held.contact);
    const about = { id, leaseNo: lease.no, attempt: { source: "request", statusCode, latencyMs } } as const;
    if (outcome.kind === "temporary") log.warn({ item_id: id, supplier, reason: outcome.reason }, "supplier fault");
    let fault = outcome.kind === "temporary" ? outcome.reason : null;
    await store.write(applySupplyOutcome, { ...about, outcome }).catch(async (error: unknown) => {
      // What it delivered cannot be stored, e.g. an ICCID that is known already: a fault like others.
      if (!(error instanceof Problem)) throw error;
      fault = "what it delivered cannot be stored";
      await store.write(applySupplyOutcome, { ...about, outcome: { kind: "temporary", reason: error.message } });
    });
    await noteExchange(deps, { kind: "supplier", name: supplier, error: fault });
  } catch (error) {
    log.error({ err: error, item_id: id }, "supply failed");
    await store.write(postponeItem, { lease, delayMs: FAULT_DELAY_MS });
  }
  return null;
}
