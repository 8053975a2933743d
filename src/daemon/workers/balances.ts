import type { Logger } from "pino";
import { Problem } from "../../core/kernel/problem.ts";
import { isUnavailable } from "../../core/store/problems.ts";
import type { Store } from "../../core/store/store.ts";
import { listProviders, supplierContact } from "../../core/suppliers/supplier.ts";
import { keepBalance } from "../../core/supply/balance.ts";
import type { Providers } from "../gateways/suppliers/providers.ts";
import type { Step } from "./loop.ts";

interface BalanceDependencies {
  store: Store;
  providers: Providers;
  log: Pick<Logger, "error" | "warn">;
  /** Whether this node asks: one of several does. */
  asks(): boolean;
}

/** A step that asks each provider what its account holds, and keeps it. One that fails holds up no other. */
export function createBalances(deps: BalanceDependencies): Step {
  return async () => {
    if (!deps.asks()) return;
    const names = await deps.store.read(listProviders, null);
    await Promise.all(names.map((name) => ask(deps, name)));
  };
}

async function ask({ store, providers, log }: BalanceDependencies, supplier: string): Promise<void> {
  try {
    const contact = await store.read(supplierContact, supplier);
    const provider = contact === null ? null : providers.of(contact);
    if (provider === null) return;
    const { currency, balance } = await provider.balance();
    await store.write(keepBalance, { supplier, currency, balance });
  } catch (error) {
    // What cannot be written for now ends the step, which is tried again.
    if (isUnavailable(error)) throw error;
    if (error instanceof Problem) log.warn({ supplier, reason: error.message }, "the balance is not known");
    else log.error({ err: error, supplier }, "the balance could not be asked for");
  }
}
