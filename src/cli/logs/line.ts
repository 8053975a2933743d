import type { LogRecord } from "../../daemon/log/filter.ts";
import { recordWords } from "../../daemon/log/record-words.ts";
import { clean } from "../output/clean.ts";
import type { Sheet } from "../output/sheet.ts";
import { moment } from "../output/words.ts";

/** A line of the log for people; with `verbose` the stack of an error below it. */
export function logLine(sheet: Sheet, record: LogRecord, { verbose }: { verbose: boolean }): string {
  const { paint } = sheet;
  const { time, level, err } = record;
  const at = typeof time === "string" ? paint.dim(moment(time)) : paint.dim("-".padEnd(20));
  const { text, fault, members } = recordWords(record);
  const named = members.map(([name, value]) => `${paint.cyan(name)}=${clean(value)}`);
  const wrong = fault === null ? [] : [paint.red(clean(fault))];
  const line = [at, levelWord(sheet, level), [clean(text), ...wrong, ...named].join(" ")].join("  ");
  return [line, ...(verbose ? stackOf(err) : [])].join("\n");
}

function levelWord({ paint }: Sheet, level: unknown): string {
  const word = clean(typeof level === "string" ? level : "-").padEnd(5);
  if (level === "error" || level === "fatal") return paint.red(word);
  return level === "warn" ? paint.yellow(word) : paint.dim(word);
}

function stackOf(err: unknown): string[] {
  const { stack } = Object(err);
  return Array.isArray(stack) ? stack.map((one) => `    ${clean(String(one)).trim()}`) : [];
}
