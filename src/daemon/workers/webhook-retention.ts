import type { Store } from "../../core/store/store.ts";
import { purgeStep } from "../../core/webhooks/retention.ts";

/** Drops deliveries and events that are kept long enough, a little at a time. Safe to repeat and to kill. */
export async function purgeOldDeliveries({ store }: { store: Store }, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await store.write(purgeStep, null)) > 0);
}
