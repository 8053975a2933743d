import { partnersToSettle, settleStep } from "../../core/sandbox/settle.ts";
import type { Store } from "../../core/store/store.ts";
import { drained } from "./loop.ts";

/** Does what advanced sandbox clocks made due, in short steps, partner by partner. Safe to kill at any moment. */
export async function settleSandbox({ store }: { store: Store }, signal: AbortSignal): Promise<void> {
  for (const partnerId of await store.read(partnersToSettle, null)) {
    const owner = { partnerId, environment: "sandbox" } as const;
    await drained(signal, () => store.write(settleStep, partnerId, undefined, owner));
  }
}
