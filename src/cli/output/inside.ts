import { isoTime, systemClock } from "../../core/kernel/clock.ts";
import type { Environment } from "../../core/kernel/environment.ts";
import type { Waiting } from "../../core/kernel/waiting.ts";
import type { Column, Sheet } from "./sheet.ts";
import { moment, waitingWords } from "./words.ts";

/** Whose a record is, and for whom it waits: what the operator sees of it beyond the API. */
export function insideFields({ partner, environment, waiting }: Inside): Record<string, string> {
  const words = waitingWords(waiting, isoTime(systemClock.now()));
  return { partner: `${partner}, ${environment}`, ...(words === null ? {} : { waiting: words }) };
}

interface Inside {
  partner: string;
  environment: Environment;
  waiting: Waiting | null;
}

/** Exchanges with a carrier or supplier, with further columns after the time. Without any: `empty`. */
export function attemptsTable<A extends Attempt>(
  sheet: Sheet,
  attempts: readonly A[],
  { empty, columns = [] }: { empty: string; columns?: readonly Column<A>[] },
): string {
  return sheet.table(
    [
      { title: "at", value: (one) => moment(one.at) },
      ...columns,
      { title: "from", value: (one) => one.source },
      { title: "outcome", value: (one) => one.outcome },
      { title: "status", value: (one) => one.status_code, align: "right" },
      { title: "ms", value: (one) => one.latency_ms, align: "right" },
      { title: "answer", value: (one) => one.answer, shrinks: true },
    ],
    attempts,
    empty,
  );
}

interface Attempt {
  at: string;
  source: string;
  outcome: string;
  status_code: number | null;
  latency_ms: number | null;
  answer: string | null;
}
