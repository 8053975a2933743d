import { Temporal } from "temporal-polyfill";
import { instantOf } from "../../core/kernel/clock.ts";
import { invalid } from "../../core/kernel/problem.ts";
import { calendarDay, type Form, requiredField, type Visit } from "./visit.ts";

/**
 * A moment (ms) as a browser's field of date and time writes it, in the user's zone, or in ISO 8601 with its zone.
 * Throws `validation`.
 */
export function momentField({ form, zone }: Pick<Visit, "form" | "zone">, name: string): number {
  const typed = requiredField(form, name);
  const at = instantOf(typed) ?? momentOrNull(() => Temporal.PlainDateTime.from(typed).toZonedDateTime(zone));
  if (at === null) throw invalid({ [name]: ["must be a date and a time such as 2026-03-01T09:30"] });
  return at;
}

/** A moment (ms) as such a field has it, to the minute. */
export function momentTyped(at: number, zone: string): string {
  const there = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone);
  return there.toPlainDateTime().toString({ smallestUnit: "minute" });
}

/** The first moment (ms) of the day that a filter names, or of a day after it. Throws `validation`. */
export function dayField(query: Form, { name, zone, days = 0 }: { name: string; zone: string; days?: number }) {
  const day = calendarDay(query, name);
  if (day === undefined) return undefined;
  return Temporal.PlainDate.from(day).add({ days }).toZonedDateTime(zone).epochMilliseconds;
}

/** What people type may be no time, or one beyond the calendar. */
function momentOrNull(read: () => Temporal.ZonedDateTime): number | null {
  try {
    return read().epochMilliseconds;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
