import { Temporal } from "temporal-polyfill";

/**
 * How long an ISO 8601 duration such as P7D or PT36H is from `from` (ms) on, in ms; months and years are UTC's. Null
 * for what is no duration or lasts beyond the calendar.
 */
export function durationMs(text: string, from: number): number | null {
  try {
    const start = Temporal.Instant.fromEpochMilliseconds(from).toZonedDateTimeISO("UTC");
    return start.add(Temporal.Duration.from(text)).epochMilliseconds - from;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
