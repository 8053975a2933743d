import { setTimeout as pause } from "node:timers/promises";
import { counted } from "../../core/kernel/counted.ts";
import { terminalText } from "./clean.ts";

const ENTER = "\u001b[?1049h\u001b[?25l";
const LEAVE = "\u001b[?25h\u001b[?1049l";
const REDRAW = "\u001b[H\u001b[J";
const CTRL_C = "\u0003";

const ENDS = "q or Ctrl-C ends";

/** The lines that a window of so many rows shows; what does not fit is counted in the last one. */
export function fitHeight(screen: string, rows: number): string[] {
  const lines = screen.split("\n");
  if (lines.length + 2 <= rows - 1) return [...lines, "", ENDS];
  const kept = lines.slice(0, Math.max(1, rows - 2));
  const left = lines.length - kept.length;
  if (left === 0) return [...kept, ENDS];
  return [...kept, `… ${counted(left, "more line", "more lines")}: enlarge the window. ${ENDS}`];
}

/**
 * Draws a screen of its own again and again until a person types q or Ctrl-C, or the process is asked to end; then the
 * terminal is as it was. This is its normal end.
 */
export async function showLive(everyMs: number, draw: () => Promise<string>): Promise<void> {
  const { stdin, stdout } = process;
  const done = new AbortController();
  const end = () => done.abort();
  const typed = (keys: Buffer) => {
    if (/q/i.test(keys.toString()) || keys.includes(CTRL_C)) end();
  };
  stdin.setRawMode(true).on("data", typed);
  process.once("SIGTERM", end);
  process.once("SIGHUP", end);
  stdout.write(ENTER);
  try {
    while (!done.signal.aborted) {
      const lines = fitHeight(terminalText(await draw(), { colors: true }), stdout.rows ?? 24);
      stdout.write(`${REDRAW}${lines.join("\r\n")}`);
      // An aborted wait is the normal end.
      await pause(everyMs, undefined, { signal: done.signal }).catch(() => undefined);
    }
  } finally {
    stdout.write(LEAVE);
    stdin.off("data", typed).setRawMode(false).pause();
  }
}
