import type { Logger } from "pino";
import type { OrderId } from "../../core/kernel/brand.ts";
import { claimDueOrders, postponeOrder, releaseOrder } from "../../core/orders/due.ts";
import { fulfilStep } from "../../core/orders/fulfil.ts";
import type { Store } from "../../core/store/store.ts";

interface FulfilmentDependencies {
  store: Store;
  log: Pick<Logger, "error">;
}

/** Orders worked at the same time: their steps share commits. */
const AT_ONCE = 16;
const FAULT_DELAY_MS = 30_000;

/** Takes every due order as far as it goes now: fulfilled, or waiting for people. Safe to kill at any moment. */
export async function fulfilDueOrders({ store, log }: FulfilmentDependencies, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const claimed = await store.write(claimDueOrders, { limit: AT_ONCE });
    if (claimed.length === 0) return;
    await Promise.all(claimed.map((id) => fulfilOrder(store, id, signal, log)));
  }
}

async function fulfilOrder(store: Store, id: OrderId, signal: AbortSignal, log: Pick<Logger, "error">): Promise<void> {
  try {
    while ((await store.write(fulfilStep, id)) === "more") {
      if (signal.aborted) return await store.write(releaseOrder, id);
    }
  } catch (error) {
    log.error({ err: error, order_id: id }, "fulfilment failed");
    await store.write(postponeOrder, { id, delayMs: FAULT_DELAY_MS });
  }
}
