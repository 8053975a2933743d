import { type Actor, recordAudit } from "../audit/record.ts";
import { invalid } from "../kernel/problem.ts";
import type { Read, Tx } from "../store/store.ts";
import { storedValue, storeValue } from "../store/stored-value.ts";

/** What partners are shown of where to transfer money. */
const BANK_DETAILS = "bank_details";
const MOST_CHARACTERS = 4_000;

/** The operator's bank details, as lines of text; null: none were set. */
export function bankDetails(q: Read): Promise<string | null> {
  return storedValue(q, BANK_DETAILS);
}

/** Sets the bank details; null removes them. Throws `validation` where they are too long. */
export async function setBankDetails(
  tx: Tx,
  { text, actor }: { text: string | null; actor: Actor },
): Promise<string | null> {
  const kept = text?.trim() || null;
  if ((kept?.length ?? 0) > MOST_CHARACTERS) {
    throw invalid({ bank_details: [`must have at most ${MOST_CHARACTERS} characters`] });
  }
  await storeValue(tx, BANK_DETAILS, kept);
  const target = { targetKind: "setting", targetId: BANK_DETAILS };
  await recordAudit(tx, { actor, action: "settings.set", ...target });
  return kept;
}
