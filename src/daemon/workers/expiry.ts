import { expireDueEsims } from "../../core/esims/expire.ts";
import type { Store } from "../../core/store/store.ts";

/** Expires every eSIM whose validity has ended, in steps that keep nobody waiting. Safe to kill at any moment. */
export async function expireEsims({ store }: { store: Store }, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await store.write(expireDueEsims, null)) > 0);
}
