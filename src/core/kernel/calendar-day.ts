const FORM = /^\d{4}-\d{2}-\d{2}$/;

const DAY_MS = 86_400_000;

/** How many days the civil date `to` is after `from`; negative: before. */
export function daysBetween(from: string, to: string): number {
  return (Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / DAY_MS;
}

/** Whether `text` is YYYY-MM-DD and a day that the calendar has: no 30 February. */
export function isCivilDate(text: string): boolean {
  if (!FORM.test(text)) return false;
  // A day too many rolls over into the next month. Temporal would take ten times as long for each of a million rows.
  const midnight = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(text);
}
