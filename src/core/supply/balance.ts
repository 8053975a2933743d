import { and, isNotNull, lt } from "drizzle-orm";
import { isoTime } from "../kernel/clock.ts";
import { formatCost } from "../kernel/cost.ts";
import { updateRow } from "../store/rows.ts";
import { statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { isProvider, requireSupplier, type SupplierRow } from "../suppliers/supplier.ts";
import { closeCircuit, faultsOf, openCircuit, passageOf } from "./circuit.ts";

/** How the reason of a circuit begins that a balance opened. */
const LOW = "balance low";

/** What a supplier's account held when it was asked. */
export interface SeenBalance {
  supplier: string;
  currency: string;
  /** A decimal. */
  balance: string;
  /** Whether it is below what nothing more is bought for. */
  low: boolean;
  at: string;
}

type Held = Pick<SupplierRow, "name" | "adapter" | "balance" | "balance_currency" | "low_balance">;

/** "12.5000 USD, less than 20.0000 USD"; null: it is not low, or not known. */
function lowWords({ balance, balance_currency, low_balance }: Omit<Held, "name" | "adapter">): string | null {
  if (balance === null || low_balance === null || balance >= low_balance) return null;
  const currency = balance_currency ?? "";
  return `${formatCost(balance)} ${currency}, less than ${formatCost(low_balance)} ${currency}`;
}

/**
 * Keeps what a supplier's account holds. Below its low balance the circuit opens, so that nothing more is bought until
 * the balance is no longer low. A balance that has grown also closes a circuit that the account, and no fault, opened.
 */
export async function keepBalance(
  tx: Tx,
  { supplier, currency, balance }: { supplier: string; currency: string; balance: number },
): Promise<SeenBalance> {
  const before = await requireSupplier(tx, supplier);
  const seen = { balance, balance_currency: currency, balance_at: tx.now };
  await updateRow(tx, "suppliers", { name: supplier }, seen);
  const after = { ...before, ...seen };
  const grown = before.balance !== null && balance > before.balance && (await faultsOf(tx, supplier)) === 0;
  await followBalance(tx, after, { forget: grown });
  return { supplier, currency, balance: formatCost(balance), low: lowWords(after) !== null, at: isoTime(tx.now) };
}

/** Opens the circuit of a low balance, and closes it of one that no longer is; `forget`: whatever opened it. */
export async function followBalance(tx: Tx, row: Held, { forget }: { forget: boolean }): Promise<void> {
  const supplier = row.name;
  const low = isProvider(row.adapter) ? lowWords(row) : null;
  if (low !== null) return openCircuit(tx, { supplier, reason: `${LOW}: ${low}`, forMs: null });
  const passage = await passageOf(tx, supplier);
  if (forget || (passage.open && passage.reason.startsWith(LOW))) await closeCircuit(tx, { supplier });
}

const below = statement((db, t, _slot) =>
  db
    .select()
    .from(t.suppliers)
    .where(and(isNotNull(t.suppliers.balance), lt(t.suppliers.balance, t.suppliers.low_balance)))
    .orderBy(t.suppliers.name),
);

/** Suppliers whose balance is low, with words for people. */
export async function lowBalances(q: Read): Promise<{ supplier: string; detail: string }[]> {
  return (await below(q, {})).flatMap((row) => {
    const detail = lowWords(row);
    return detail === null ? [] : [{ supplier: row.name, detail }];
  });
}
