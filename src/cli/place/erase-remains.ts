import { setTimeout as pause } from "node:timers/promises";
import type { Store } from "../../core/store/store.ts";

/** How often, and after how many ms each time, a reader that is in the way is waited for: ten seconds in all. */
const [LOOKS, PAUSE_MS] = [40, 250];

/** What people read where a reader kept purged data in the files. */
export const NOT_ERASED =
  "A reader still uses the database as it was before: its files hold the old data until that ends. Then the next " +
  "passports purge erases it; on SQLite a running serve does so by itself.";

/** Erases from the database's files what was purged; false: a reader did not end within ten seconds. */
export async function eraseRemains(store: Store, interruption: AbortSignal): Promise<boolean> {
  for (let look = 0; look < LOOKS && !interruption.aborted; look++) {
    if (await store.erase()) return true;
    await pause(PAUSE_MS);
  }
  return store.erase();
}
