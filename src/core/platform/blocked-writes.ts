import type { Pulse } from "../store/store.ts";

/** A session that holds up all writes for longer (ms) while it does nothing is reported; shorter pauses are usual. */
const HELD_MS = 2_000;
/** The server should have ended it by then (ms): `idle_in_transaction_session_timeout` is far less. */
const STUCK_MS = 15_000;

/** For how long (ms) another session has held up all writes, long enough to be reported; null: none has. */
export function heldUpMs({ heldMs }: Pick<Pulse, "heldMs">): number | null {
  return heldMs !== null && heldMs > HELD_MS ? Math.round(heldMs) : null;
}

/** Whether such a session is not going to be ended by its server. */
export function isStuck(heldMs: number | null): boolean {
  return heldMs !== null && heldMs > STUCK_MS;
}
