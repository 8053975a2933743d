import { Temporal } from "temporal-polyfill";

/** The civil date (YYYY-MM-DD) of a moment in ms, in an IANA time zone: UTC by default. */
export function civilDateAt(ms: number, timeZone = "UTC"): string {
  return Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timeZone).toPlainDate().toString();
}

/** Whether `text` is an IANA time zone that this program knows. */
export function isTimeZone(text: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: text }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

/** The first moment (ms) of a civil date in an IANA time zone, whatever daylight saving does to its midnight. */
export function startOfCivilDate(date: string, timeZone: string): number {
  return Temporal.PlainDate.from(date).toZonedDateTime(timeZone).epochMilliseconds;
}
