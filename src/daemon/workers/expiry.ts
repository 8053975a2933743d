import { expireDueEsims } from "../../core/esims/expire.ts";
import type { Store } from "../../core/store/store.ts";
import { drained } from "./loop.ts";

/**
 * Expires every eSIM whose validity has ended, in steps that keep nobody waiting; answers how many. Safe to kill at any
 * moment.
 */
export function expireEsims({ store }: { store: Store }, signal: AbortSignal): Promise<number> {
  return drained(signal, () => store.write(expireDueEsims, null));
}
