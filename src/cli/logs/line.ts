import { clean } from "../output/clean.ts";
import type { Sheet } from "../output/sheet.ts";
import { moment } from "../output/words.ts";
import type { LogRecord } from "./filter.ts";

/** A line of the log for people; with `verbose` the stack of an error below it. */
export function logLine(sheet: Sheet, record: LogRecord, { verbose }: { verbose: boolean }): string {
  const { paint } = sheet;
  const { time, level, msg, err, ...rest } = record;
  const at = typeof time === "string" ? paint.dim(moment(time)) : paint.dim("-".padEnd(20));
  const words = msg === "request" ? requestWords(rest) : { text: wordOf(msg), rest };
  const members = Object.entries(words.rest).map(([name, value]) => `${paint.cyan(name)}=${wordOf(value)}`);
  const fault = err === undefined ? [] : [paint.red(faultWords(err))];
  const line = [at, levelWord(sheet, level), [words.text, ...fault, ...members].join(" ")].join("  ");
  return [line, ...(verbose ? stackOf(err) : [])].join("\n");
}

/** "POST /api/v1/orders 201 in 1.9 ms", and what else the line has. */
function requestWords({ method, route, status, ms, ...rest }: LogRecord): { text: string; rest: LogRecord } {
  return { text: `${wordOf(method)} ${wordOf(route)} ${wordOf(status)} in ${wordOf(ms)} ms`, rest };
}

function levelWord({ paint }: Sheet, level: unknown): string {
  const word = wordOf(level ?? "-").padEnd(5);
  if (level === "error" || level === "fatal") return paint.red(word);
  return level === "warn" ? paint.yellow(word) : paint.dim(word);
}

/** What went wrong, and what that came from. */
function faultWords(err: unknown): string {
  const { type, message, code, cause } = Object(err);
  const kind = [type, code].filter((word) => word !== undefined).map(wordOf);
  const words = `${kind.join(" ")}: ${wordOf(message)}`;
  return cause === undefined ? words : `${words}, caused by ${faultWords(cause)}`;
}

function stackOf(err: unknown): string[] {
  const { stack } = Object(err);
  return Array.isArray(stack) ? stack.map((one) => `    ${wordOf(one).trim()}`) : [];
}

/** Anything on one line, without control characters. */
function wordOf(value: unknown): string {
  return clean(typeof value === "string" ? value : (JSON.stringify(value) ?? "-"));
}
