import { isCivilDate } from "./calendar-day.ts";

const BUDDHIST_AHEAD = 543;
const OLDEST_YEARS = 130;
const LONGEST_PASSPORT_YEARS = 30;

/** Why a text is no date of YYYY-MM-DD, with the likely cause; null: it is one. */
export function dateFault(text: string): string | null {
  if (isCivilDate(text)) return null;
  const wanted = "must be a real date as YYYY-MM-DD";
  if (/^\d{5}(\.\d+)?$/.test(text)) return `${wanted}, and is a spreadsheet's day number: format the column as a date`;
  if (/^\d{4}-\d{2}-\d{2}[T ]\d{1,2}:/.test(text)) return `${wanted}, without a time`;
  if (/^\d{1,2}[/.-]\d{1,2}[/.-]\d{2}$/.test(text)) return `${wanted}, with a year of four digits`;
  return wanted;
}

/** Why this date of birth cannot be one; `today` is YYYY-MM-DD. */
export function birthFault(date: string, today: string): string | null {
  const year = yearOf(date);
  if (date >= today) return `must be in the past${guess(year, (one) => one < yearOf(today))}`;
  if (year < yearOf(today) - OLDEST_YEARS) {
    return `is over ${OLDEST_YEARS} years ago${guess(year, (one) => one <= yearOf(today))}`;
  }
  return null;
}

/** Why a passport cannot expire on this date. */
export function expiryFault(date: string, today: string): string | null {
  const [year, now] = [yearOf(date), yearOf(today)];
  const near = (one: number) => Math.abs(one - now) <= LONGEST_PASSPORT_YEARS;
  if (year > now + LONGEST_PASSPORT_YEARS) return `is over ${LONGEST_PASSPORT_YEARS} years ahead${guess(year, near)}`;
  if (year < now - OLDEST_YEARS) return `is over ${OLDEST_YEARS} years ago${guess(year, near)}`;
  return null;
}

function yearOf(date: string): number {
  return Number(date.slice(0, 4));
}

/** What a year that fits nothing may have meant, in brackets; "": no guess. */
function guess(year: number, fits: (year: number) => boolean): string {
  const buddhist = year - BUDDHIST_AHEAD;
  if (year >= 2400 && fits(buddhist)) return ` (Buddhist year? ${year} is ${buddhist})`;
  const centuries = year < 100 ? [2000 + year, 1900 + year].filter(fits) : [];
  const [first] = centuries;
  return first === undefined ? "" : ` (did you mean ${first}?)`;
}
