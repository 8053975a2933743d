import { invalid, Problem } from "../kernel/problem.ts";
import { refusalWords } from "../kernel/refusal-words.ts";
import { requireAgent } from "../passports/passport.ts";
import type { Read, Tx } from "../store/store.ts";
import type { Activation } from "./activation.ts";
import { isDrawn, type Line, type SubmittedLine, submitLine } from "./submit-line.ts";

/**
 * Takes a request that a partner's person fills in, or a line of their file, as `submitLine` takes a line; only a
 * partner with an agent record draws from the pool. Throws what that one throws, and `validation` for a passport that
 * is missing.
 */
export async function submitOwn(tx: Tx, line: Line): Promise<SubmittedLine> {
  if (isDrawn(line.request) && !(await mayDraw(tx, line.partnerId))) {
    throw invalid({ passport_no: ["is required: you have no agent record, so none is drawn from the pool"] });
  }
  return submitLine(tx, line);
}

/** Whether lines without a passport take one of the partner's pool. */
export async function mayDraw(q: Read, partnerId: Line["partnerId"]): Promise<boolean> {
  try {
    await requireAgent(q, partnerId);
    return true;
  } catch (error) {
    if (error instanceof Problem) return false;
    throw error;
  }
}

/** What would become of a line. */
export type RehearsedLine =
  | { status: "submitted"; replayed: boolean; activation: Activation }
  | { status: "failed"; message: string };

/**
 * What would come of lines that are submitted one after the other, each with what those before it leave of the pool.
 * Only for `rehearse`, which takes all of it back: a line that is refused may have written before.
 */
export async function submitLinesInVain(tx: Tx, { lines }: { lines: readonly Line[] }): Promise<RehearsedLine[]> {
  const rehearsed: RehearsedLine[] = [];
  for (const line of lines) {
    try {
      rehearsed.push({ status: "submitted", ...(await submitOwn(tx, line)) });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      rehearsed.push({ status: "failed", message: refusalWords(error) });
    }
  }
  return rehearsed;
}
