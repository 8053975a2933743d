import type { Logger } from "pino";
import { Problem } from "../../core/kernel/problem.ts";
import { applySupply } from "../../core/orders/item-outcome.ts";
import { type ClaimedItem, claimDueItems, postponeItem, reviewOverdueItems } from "../../core/orders/items-due.ts";
import type { Store } from "../../core/store/store.ts";
import { supplierContact } from "../../core/suppliers/supplier.ts";
import type { SupplierGateway } from "../gateways/suppliers.ts";

/** What the worker for suppliers needs. */
export interface SupplyDependencies {
  store: Store;
  gateway: SupplierGateway;
  log: Pick<Logger, "error" | "warn">;
}

/** Requests to suppliers under way at the same time. */
const AT_ONCE = 16;
const FAULT_DELAY_MS = 60_000;

/** Sends every item that is due, and holds the orders whose supplier gave no final answer in time. */
export async function supplyDueItems(deps: SupplyDependencies, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    if ((await deps.store.write(reviewOverdueItems, { limit: 100 })) === 0) break;
  }
  while (!signal.aborted) {
    const claimed = await deps.store.write(claimDueItems, { limit: AT_ONCE });
    if (claimed.length === 0) return;
    await Promise.all(claimed.map((item) => supply(deps, item)));
  }
}

async function supply({ store, gateway, log }: SupplyDependencies, claimed: ClaimedItem): Promise<void> {
  const { id, supplier } = claimed.item;
  try {
    const { outcome, statusCode, latencyMs } = await gateway.send(claimed, await store.read(supplierContact, supplier));
    const heard = { source: "request", statusCode, latencyMs } as const;
    if (outcome.kind === "temporary") log.warn({ item_id: id, supplier, reason: outcome.reason }, "supplier fault");
    await store.write(applySupply, { id, outcome, heard }).catch(async (error: unknown) => {
      // What it handed over cannot be taken, e.g. an ICCID that is known already: a fault like others.
      if (!(error instanceof Problem)) throw error;
      await store.write(applySupply, { id, outcome: { kind: "temporary", reason: error.message }, heard });
    });
  } catch (error) {
    log.error({ err: error, item_id: id }, "supply failed");
    await store.write(postponeItem, { id, delayMs: FAULT_DELAY_MS });
  }
}
