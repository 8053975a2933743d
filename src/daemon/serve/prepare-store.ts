import { ensureCarriers } from "../../core/carriers/seed.ts";
import { ensureSigningKey } from "../../core/credentials/signing-keys.ts";
import type { Store } from "../../core/store/store.ts";

/** Puts into a new database what every installation needs; changes nothing in one that has it. */
export async function prepareStore(store: Store): Promise<void> {
  await store.write(ensureSigningKey, null);
  await store.write(ensureCarriers, null);
}
