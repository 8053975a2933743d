import type { Logger } from "pino";
import { costOf } from "../../core/kernel/cost.ts";
import { Problem } from "../../core/kernel/problem.ts";
import type { Store } from "../../core/store/store.ts";
import { applySupplyOutcome } from "../../core/supplier-requests/apply-outcome.ts";
import { applyStep, type Ended, noteStep } from "../../core/supplier-requests/apply-step.ts";
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
import { isProvider, type SupplierContact } from "../../core/suppliers/supplier.ts";
import { knownPurchases } from "../../core/supply/costs.ts";
import type { Ask, Step } from "../../core/supply/provider.ts";
import { MAILS_AT_ONCE } from "../gateways/mailer.ts";
import type { Providers } from "../gateways/suppliers/providers.ts";
import type { SupplierGateway } from "../gateways/suppliers.ts";
import { drained } from "./loop.ts";
import { claimEach, createPool, type Pool, type PoolWork } from "./pool.ts";
import { noteExchange } from "./reach.ts";
import { type RunEnd, runSteps } from "./run-steps.ts";
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

/** What buying needs. */
interface BuyDependencies {
  store: Store;
  providers: Providers;
  log: Pick<Logger, "error" | "warn" | "info">;
}

/**
 * Buys one unit of a provider, step by step, as far as it goes now. What must not be done twice is noted before it is
 * done; then the process may end at any moment, and the next run looks up what came of it.
 */
async function buyUnit(deps: BuyDependencies, claimed: ClaimedItem, contact: SupplierContact): Promise<void> {
  const { item, lease, probe } = claimed;
  const began = performance.now();
  const run = await runSteps({
    memory: item.memory,
    ask: (state) => nextStep(deps, claimed, contact, state),
    note: ({ memory, hold = null }) => deps.store.write(noteStep, { lease, probe, memory, hold }),
  });
  if (run === null) return;
  const { step, ...rest } = run;
  if (step.kind === "applied") throw new Error("a purchase ended as a top-up");
  await end(deps, claimed, { step, ...rest, latencyMs: Math.round(performance.now() - began) });
}

function nextStep(
  { store, providers }: BuyDependencies,
  { item }: ClaimedItem,
  contact: SupplierContact,
  state: Pick<Ask, "memory" | "fresh">,
): Promise<Step> {
  const provider = providers.of(contact);
  const unsent = (reason: string): Promise<Step> => Promise.resolve({ kind: "unsent", reason });
  if (provider === null) return unsent("it has no secret, or its address is not https (suppliers set)");
  if (item.supplier_sku === null) return unsent("the product names no plan of it (sources add)");
  const { supplier, id: reference, days } = item;
  const known = async (references: readonly string[]) =>
    new Set(await store.read(knownPurchases, { supplier, references, own: reference }));
  return provider.buy({
    plan: item.supplier_sku,
    days,
    reference,
    cost: item.cost === null ? null : costOf(item.cost),
    known,
    ...state,
  });
}

interface End extends Omit<RunEnd, "step"> {
  step: Ended;
  latencyMs: number;
}

async function end(deps: BuyDependencies, { item, lease, probe }: ClaimedItem, { step, ...rest }: End): Promise<void> {
  const { store, log } = deps;
  const input = { id: item.id, leaseNo: lease.no, probe, ...rest };
  // A look-up that finds nothing was answered.
  const isFault = step.kind === "unsent" || (step.kind === "unknown" && rest.noted);
  let fault = isFault ? step.reason : null;
  if (fault !== null) log.warn({ item_id: item.id, supplier: item.supplier, reason: fault }, "supplier fault");
  await store.write(applyStep, { ...input, step }).catch(async (error: unknown) => {
    if (!(error instanceof Problem) || step.kind !== "bought") throw error;
    // It is bought, and cannot be stored: an ICCID that is another eSIM's already.
    fault = `what it delivered cannot be stored: ${error.message}`;
    const lost = { kind: "lost", reason: fault, memory: rest.before ?? {} } as const;
    await store.write(applyStep, { ...input, step: lost });
  });
  const isSilent = step.kind === "busy" || (step.kind === "unknown" && !rest.noted);
  if (!isSilent) await noteExchange(deps, { kind: "supplier", name: item.supplier, error: fault });
}
