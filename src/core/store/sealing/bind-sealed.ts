import type { Store } from "../store.ts";
import { dropUnboundKeys, ensureBindingKey } from "./data-keys.ts";
import { bindBatch, type ResealedBatch, sealedPlaces } from "./reseal.ts";

/** Rows of one transaction: few enough that an interruption loses little. */
const BATCH = 1000;

/**
 * Seals again what an earlier version sealed, so that it opens in its own cell only, and deletes the keys that it was
 * sealed under. Transaction by transaction: where it is cut off, the next start goes on. What cannot be read even now
 * stays unreadable.
 */
export async function bindSealedValues({ write, erase }: Pick<Store, "write" | "erase">): Promise<void> {
  await write(ensureBindingKey, null);
  for (const place of sealedPlaces) {
    let after: string | null = "";
    while (after !== null) {
      const batch: ResealedBatch = await write(bindBatch, { place, after, limit: BATCH });
      after = batch.next;
    }
  }
  await write(dropUnboundKeys, null);
  await erase();
}
