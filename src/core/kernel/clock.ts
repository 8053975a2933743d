import { isCivilDate } from "./calendar-day.ts";

/** The only source of time in core. Milliseconds since the epoch, UTC. */
export interface Clock {
  now(): number;
}

/** The machine's own clock. Only `serve`, the terminal and benches take it. */
export const systemClock: Clock = { now: () => Date.now() };

/** The moment that was written last: a command writes its own again and again. */
let written = { ms: 0, text: "1970-01-01T00:00:00.000Z" };

/** A moment in ms as the API writes it: ISO 8601, milliseconds, `Z`. */
export function isoTime(ms: number): string {
  if (ms !== written.ms) written = { ms, text: new Date(ms).toISOString() };
  return written.text;
}

/** The same for a column that may be empty. */
export function isoTimeOrNull(ms: number | null): string | null {
  return ms === null ? null : isoTime(ms);
}

/** The moment (ms) of an ISO 8601 date-time that names its zone: 2026-03-01T09:30:00Z. Null for anything else. */
export function instantOf(text: string): number | null {
  const zoned = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text);
  if (!zoned || !isCivilDate(text.slice(0, 10))) return null;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : at;
}
