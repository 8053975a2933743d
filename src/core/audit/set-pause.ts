import { invalid } from "../kernel/problem.ts";
import { currentPauses, endPause, type Pause, type Paused, writePause } from "../platform/pauses.ts";
import type { Tx } from "../store/store.ts";
import { type AuditEntry, recordAudit } from "./record.ts";

/** The longest reason, in characters: partners read it in each refusal. */
const LONGEST_REASON = 200;

/** A pause to begin with a reason, or to end without one. */
interface PauseChange {
  paused: Paused;
  reason: string | null;
  audit: Omit<AuditEntry, "note">;
}

/**
 * Begins or ends a pause and records that; the result is the pause, or null where there is none now. To end what is not
 * paused changes nothing. Throws `validation` for a reason that is empty or too long.
 */
export async function setPause(tx: Tx, { paused, reason, audit }: PauseChange): Promise<Pause | null> {
  const words = reason?.trim() ?? null;
  if (words !== null && (words === "" || words.length > LONGEST_REASON)) {
    throw invalid({ reason: [`must have 1 to ${LONGEST_REASON} characters`] });
  }
  const before = await pauseOf(tx, paused);
  if (words === null && before === null) return null;
  if (words === null) await endPause(tx, paused);
  else await writePause(tx, paused, words);
  await recordAudit(tx, { ...audit, note: words });
  return pauseOf(tx, paused);
}

async function pauseOf(tx: Tx, { kind, name }: Paused): Promise<Pause | null> {
  return (await currentPauses(tx)).find((one) => one.kind === kind && one.name === name) ?? null;
}
