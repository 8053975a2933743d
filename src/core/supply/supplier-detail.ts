import { isoTimeOrNull } from "../kernel/clock.ts";
import { formatCost } from "../kernel/cost.ts";
import { readSetting } from "../platform/settings.ts";
import type { CircuitState } from "../store/schema/values.ts";
import type { Read } from "../store/store.ts";
import { requireSupplier, type Supplier, showSupplier, supplierCallback } from "../suppliers/supplier.ts";
import { circuitOf } from "./circuit.ts";

/** All that is known of a supplier. What only providers have is null for the others. */
export interface SupplierDetail extends Supplier {
  /** Where a provider calls back; null also where the platform was never served: its public address is not known. */
  callback_url: string | null;
  /** The path of that address. */
  callback_path: string | null;
  /** A decimal in the currency of the account. */
  balance: string | null;
  balance_currency: string | null;
  balance_at: string | null;
  low_balance: string | null;
  /** Percent on the cost, as the last sync priced its plans. */
  markup: number | null;
  sku_prefix: string | null;
  synced_at: string | null;
  circuit: CircuitState;
  circuit_since: string | null;
  circuit_reason: string | null;
}

/** One supplier with all that is known of it; its callback address is secret. Throws `not_found`. */
export async function supplierDetail(q: Read, name: string): Promise<SupplierDetail> {
  const row = await requireSupplier(q, name);
  const sealed = row.callback_sealed;
  const secret = sealed === null ? null : q.vault.open(sealed, supplierCallback(name));
  const path = secret === null ? null : `/callbacks/suppliers/${name}/${secret}`;
  const publicUrl = await readSetting(q, "public_url");
  const { circuit, since, reason } = await circuitOf(q, name);
  return {
    ...(await showSupplier(q, name)),
    callback_url: path === null || publicUrl === null ? null : publicUrl + path,
    callback_path: path,
    balance: row.balance === null ? null : formatCost(row.balance),
    balance_currency: row.balance_currency,
    balance_at: isoTimeOrNull(row.balance_at),
    low_balance: row.low_balance === null ? null : formatCost(row.low_balance),
    markup: row.markup_points === null ? null : row.markup_points / 100,
    sku_prefix: row.sku_prefix,
    synced_at: isoTimeOrNull(row.synced_at),
    circuit,
    circuit_since: since,
    circuit_reason: reason,
  };
}
