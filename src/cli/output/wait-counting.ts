import { setTimeout as sleep } from "node:timers/promises";
import type { Globals } from "../kernel/globals.ts";
import { clean } from "./clean.ts";

/** Shows the reason for a wait; null: the wait is over. */
type Show = (words: string | null) => void;

// The progress bar on the screen, if any: a process has one screen.
let bar: Show | null = null;

/** Shows waits in this bar until the returned function is called. */
export function showWaitsIn(show: Show): () => void {
  bar = show;
  return () => {
    if (bar === show) bar = null;
  };
}

/** Waits `ms`, counting down on stderr where a person looks. Rejects with an AbortError as soon as `signal` aborts. */
export async function waitCounting(
  ms: number,
  why: string,
  { globals, signal }: { globals: Pick<Globals, "quiet" | "json">; signal: AbortSignal },
): Promise<void> {
  if (globals.quiet || globals.json || process.stderr.isTTY !== true) {
    await sleep(ms, undefined, { signal });
    return;
  }
  const end = performance.now() + ms;
  const show = bar ?? ownLine;
  try {
    for (let left = ms; left > 0; left = end - performance.now()) {
      show(`${clean(why)}: going on in ${Math.ceil(left / 1000)} s`);
      await sleep(Math.min(left, 1000), undefined, { signal });
    }
  } finally {
    show(null);
  }
}

/** A line that is overwritten, and cleared at the end. */
function ownLine(words: string | null): void {
  const line = words === null ? "" : `${words} (Ctrl-C stops)`.slice(0, (process.stderr.columns ?? 80) - 1);
  process.stderr.write(`\r\u001b[2K${line}`);
}
