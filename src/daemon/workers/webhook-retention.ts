import type { Store } from "../../core/store/store.ts";
import { purgeStep } from "../../core/webhooks/retention.ts";
import { drained } from "./loop.ts";

/** Drops deliveries and events that are kept long enough, a little at a time; answers how many. Safe to kill. */
export function purgeOldDeliveries({ store }: { store: Store }, signal: AbortSignal): Promise<number> {
  return drained(signal, () => store.write(purgeStep, null));
}
