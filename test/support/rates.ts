import { insert } from "../../src/core/store/rows.ts";
import type { Store } from "../../src/core/store/store.ts";

/** Stores what one currency is in another from a UTC day on. */
export async function addRate(
  store: Store,
  { from, to, day, rate }: { from: string; to: string; day: string; rate: string },
): Promise<void> {
  await store.write(async (tx) => {
    const row = { from_currency: from, to_currency: to, day, rate, created_at: tx.now };
    await insert(tx, "fxRates", [row]);
  }, null);
}
