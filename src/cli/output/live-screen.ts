import { setTimeout as pause } from "node:timers/promises";

const ENTER = "\u001b[?1049h\u001b[?25l";
const LEAVE = "\u001b[?25h\u001b[?1049l";
const REDRAW = "\u001b[H\u001b[J";
const CTRL_C = "\u0003";

/**
 * Draws a screen of its own again and again until somebody types q or Ctrl-C, or the process is told to end; then the
 * terminal is as it was. What does not fit the height is cut.
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
      const lines = (await draw()).split("\n").slice(0, (stdout.rows ?? 24) - 1);
      stdout.write(`${REDRAW}${lines.join("\r\n")}`);
      // Ending the wait early is how it ends.
      await pause(everyMs, undefined, { signal: done.signal }).catch(() => undefined);
    }
  } finally {
    stdout.write(LEAVE);
    stdin.off("data", typed).setRawMode(false).pause();
  }
}
