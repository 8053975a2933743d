import { daysBetween, isCivilDate } from "../kernel/calendar-day.ts";
import { civilDateAt } from "../kernel/civil-date.ts";
import { counted } from "../kernel/counted.ts";
import { Problem } from "../kernel/problem.ts";
import type { ProcessingMode } from "../store/schema/values.ts";

/** Activation dates are days in Sydney (contract: Physical-SIM activation request). */
const ACTIVATION_ZONE = "Australia/Sydney";

/** How long a request stays with its partner after its creation or last change of date: a typo can be undone. */
const GRACE_MS = 5_000;

/** Today in Sydney. */
export function sydneyToday(now: number): string {
  return civilDateAt(now, ACTIVATION_ZONE);
}

/**
 * Throws `invalid_activation_date` unless `date` (YYYY-MM-DD) is a real day that is not past in Sydney and at most
 * `daysAhead` days from now (null: any).
 */
export function checkActivationDate(date: string, now: number, daysAhead: number | null): void {
  if (!isCivilDate(date)) throw new Problem("invalid_activation_date", noDay(date));
  const today = sydneyToday(now);
  if (date < today) {
    throw new Problem("invalid_activation_date", `${date} is past: in Sydney it is ${today}.`);
  }
  if (daysAhead !== null && daysBetween(today, date) > daysAhead) {
    throw new Problem("invalid_activation_date", `${date} is more than ${counted(daysAhead, "day")} ahead.`);
  }
}

const FORM = /^\d{4}-\d{2}-\d{2}$/;

function noDay(text: string): string {
  return FORM.test(text) ? `There is no ${text} in the calendar.` : `"${text}" is no day as YYYY-MM-DD.`;
}

/** When a request with this date may be picked up, right after its creation or a change of date. */
export interface Schedule {
  processing_mode: ProcessingMode;
  not_before: number;
  /** Null: its day has not come; the calendar run makes it due then. */
  due_at: number | null;
}

/** The schedule of a request that gets `date` now; the date was checked. */
export function scheduleFor(date: string, now: number): Schedule {
  const not_before = now + GRACE_MS;
  return date <= sydneyToday(now)
    ? { processing_mode: "immediate", not_before, due_at: not_before }
    : { processing_mode: "scheduled", not_before, due_at: null };
}
