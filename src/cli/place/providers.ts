import type { Clock } from "../../core/kernel/clock.ts";
import type { Store } from "../../core/store/store.ts";
import type { Providers } from "../../daemon/gateways/suppliers/providers.ts";

/** Reaches providers as the daemon does, within the limits that they share; ends the connections afterwards. */
export async function usingProviders<T>(
  { store, clock }: { store: Store; clock: Clock },
  work: (providers: Providers) => Promise<T>,
): Promise<T> {
  const providers = await import("../../daemon/gateways/suppliers/providers.ts");
  return providers.usingProviders({ store, now: clock.now }, work);
}
