const FORM = /^\d{4}-\d{2}-\d{2}$/;

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

const DAY_MS = 86_400_000;

/** How many days the civil date `to` is after `from`; negative: before. */
export function daysBetween(from: string, to: string): number {
  return (Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / DAY_MS;
}

/** The civil date so many days after `date`; negative: before. */
export function laterBy(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
}

/**
 * Whether `text` is YYYY-MM-DD and a day that the calendar has: no 30 February. By arithmetic: an import asks this of
 * a million rows several times, and making a Date takes several times as long.
 */
export function isCivilDate(text: string): boolean {
  if (!FORM.test(text)) return false;
  const [year, month, day] = [Number(text.slice(0, 4)), Number(text.slice(5, 7)), Number(text.slice(8))];
  return day >= 1 && day <= daysOf(year, month);
}

/** The days of a month from 1 to 12; 0 for any other. */
function daysOf(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 2 && isLeap ? 29 : (DAYS[month - 1] ?? 0);
}
