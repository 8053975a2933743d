import type { LogRecord } from "./filter.ts";

/** A line of the log in words, as they come: none of its texts is made fit for where it is shown. */
export interface RecordWords {
  text: string;
  /** What went wrong, and what that came from; null: nothing. */
  fault: string | null;
  /** What else the line has, by name. */
  members: (readonly [name: string, value: string])[];
}

/** A line of the log in words, without its time and level. */
export function recordWords({ time: _time, level: _level, msg, err, ...rest }: LogRecord): RecordWords {
  const words = msg === "request" ? requestWords(rest) : { text: wordOf(msg), rest };
  const members = Object.entries(words.rest).map(([name, value]) => [name, wordOf(value)] as const);
  return { text: words.text, fault: err === undefined ? null : faultWords(err), members };
}

/** "POST /api/v1/orders 201 in 1.9 ms", and what else the line has. */
function requestWords({ method, route, status, ms, ...rest }: LogRecord): { text: string; rest: LogRecord } {
  return { text: `${wordOf(method)} ${wordOf(route)} ${wordOf(status)} in ${wordOf(ms)} ms`, rest };
}

function faultWords(err: unknown): string {
  const { type, message, code, cause } = Object(err);
  const kind = [type, code].filter((word) => word !== undefined).map(wordOf);
  const words = `${kind.join(" ")}: ${wordOf(message)}`;
  return cause === undefined ? words : `${words}, caused by ${faultWords(cause)}`;
}

function wordOf(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "-");
}
