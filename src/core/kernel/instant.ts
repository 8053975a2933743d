import { isCivilDate } from "./calendar-day.ts";

/** The moment (ms) of an ISO 8601 date-time that names its zone: 2026-03-01T09:30:00Z. Null for anything else. */
export function instantOf(text: string): number | null {
  const zoned = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text);
  if (!zoned || !isCivilDate(text.slice(0, 10))) return null;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : at;
}
