import type { Logger } from "pino";
import { costOf } from "../../core/kernel/cost.ts";
import { Problem } from "../../core/kernel/problem.ts";
import type { Store } from "../../core/store/store.ts";
import { applyStep, type Ended, noteStep } from "../../core/supplier-requests/apply-step.ts";
import type { ClaimedItem } from "../../core/supplier-requests/due.ts";
import type { SupplierContact } from "../../core/suppliers/supplier.ts";
import { knownPurchases } from "../../core/supply/costs.ts";
import type { Ask, Step } from "../../core/supply/provider.ts";
import type { Providers } from "../gateways/suppliers/providers.ts";
import { noteExchange } from "./reach.ts";
import { type RunEnd, runSteps } from "./run-steps.ts";

/** What buying needs. */
export interface BuyDependencies {
  store: Store;
  providers: Providers;
  log: Pick<Logger, "error" | "warn" | "info">;
}

/**
 * Buys one unit of a provider, step by step, as far as it goes now. What must not be done twice is noted before it is
 * done; then the process may end at any moment, and the next run looks up what came of it.
 */
export async function buyUnit(deps: BuyDependencies, claimed: ClaimedItem, contact: SupplierContact): Promise<void> {
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
