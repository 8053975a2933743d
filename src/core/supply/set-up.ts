import type { Tx } from "../store/store.ts";
import { type SupplierSettings, setSupplier } from "../suppliers/set.ts";
import { requireSupplier, type Supplier } from "../suppliers/supplier.ts";
import { followBalance } from "./balance.ts";
import { dropToken } from "./token.ts";

/**
 * Sets a supplier, and forgets what the settings before had come to: the token of the credential, and why its circuit
 * is open, unless its balance is low by the new settings. Throws as `setSupplier` does.
 */
export async function setUpSupplier(
  tx: Tx,
  input: { name: string; settings: SupplierSettings; actor: string },
): Promise<Supplier> {
  const supplier = await setSupplier(tx, input);
  await dropToken(tx, { supplier: input.name });
  await followBalance(tx, await requireSupplier(tx, input.name), { forget: true });
  return supplier;
}
