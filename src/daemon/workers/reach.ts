import type { Logger } from "pino";
import { endOutage, isOut, recordFailure } from "../../core/platform/outages.ts";
import type { OutageKind } from "../../core/store/schema/values.ts";
import type { Store } from "../../core/store/store.ts";

/** An exchange with a supplier (by its name) or a carrier (by its prefix). */
interface Exchanged {
  kind: OutageKind;
  name: string;
  /** Why it failed, without anything of a response; null: it worked. */
  error: string | null;
}

interface Dependencies {
  store: Store;
  log: Pick<Logger, "info" | "warn">;
}

/** Keeps the outage of a supplier or carrier, and logs once when it begins and once when it ends. */
export async function noteExchange({ store, log }: Dependencies, { kind, name, error }: Exchanged): Promise<void> {
  if (error !== null) {
    const began = await store.write(recordFailure, { kind, name, error });
    if (began) log.warn({ event: `${kind}_failing`, [kind]: name, reason: error }, `the ${kind} ${name} fails`);
    return;
  }
  // Most exchanges work after one that worked: nothing is written then.
  if (!(await store.read((q) => isOut(q, { kind, name }), null))) return;
  const ended = await store.write(endOutage, { kind, name });
  if (ended === null) return;
  log.info({ event: `${kind}_recovered`, [kind]: name, ...ended }, `the ${kind} ${name} responds again`);
}
