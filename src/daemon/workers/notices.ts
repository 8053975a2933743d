import { announceChanges, hasChanges } from "../../core/catalog/announce.ts";
import { announceExpiring } from "../../core/esims/expiring.ts";
import { announceExpiringPassports } from "../../core/passports/expiring.ts";
import type { Store } from "../../core/store/store.ts";
import { drained } from "./loop.ts";

/** Announces eSIMs that expire soon, in short steps, and returns at how many it looked. Safe to kill at any moment. */
export function announceEsims({ store }: { store: Store }, signal: AbortSignal): Promise<number> {
  return drained(signal, () => store.write(announceExpiring, null));
}

/** Announces passports that expire soon, in short steps, and returns how many. Safe to kill at any moment. */
export function announcePassports({ store }: { store: Store }, signal: AbortSignal): Promise<number> {
  return drained(signal, () => store.write(announceExpiringPassports, null));
}

/** Announces changes of products to those who asked for them, in short steps. Safe to kill at any moment. */
export async function announceProducts({ store }: { store: Store }, signal: AbortSignal): Promise<void> {
  if (!(await store.read(hasChanges, null))) return;
  while (!signal.aborted && (await store.write(announceChanges, null)));
}
