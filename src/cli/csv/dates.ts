/** The order of day, month and year in dates that are not written as YYYY-MM-DD. */
export type DateOrder = "dmy" | "mdy" | "ymd";

/** Columns that hold a day. */
const dayColumns: ReadonlySet<string> = new Set([
  "activation_date",
  "requested_activation_date",
  "date_of_birth",
  "passport_expiry",
]);

/** Whether a column holds a day. */
export function isDayColumn(column: string): boolean {
  return dayColumns.has(column);
}

const PARTS = /^(\d{1,4})[./-](\d{1,2})[./-](\d{1,4})$/;
const ISO = /^\d{4}-\d{2}-\d{2}$/;

/** The numbers of a date as they are written; null: it is YYYY-MM-DD, or no date. Years have four digits. */
export function dateParts(text: string): [string, string, string] | null {
  const [, first = "", second = "", third = ""] = PARTS.exec(text) ?? [];
  if (first === "" || ISO.test(text)) return null;
  const year = first.length === 4 ? first : third;
  return year.length === 4 && (first.length === 4) !== (third.length === 4) ? [first, second, third] : null;
}

/** The day as YYYY-MM-DD; a text that is not in this order stays as it is, for the check to name. */
export function isoDay(text: string, order: DateOrder): string {
  const parts = dateParts(text);
  if (parts === null || (parts[0].length === 4) !== (order === "ymd")) return text;
  const [year, month, day] = ordered(parts, order);
  // Another order: the text says more about what is wrong than a day that does not exist.
  if (Number(month) > 12) return text;
  return `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
}

/** Year, month, day. */
function ordered([first, second, third]: [string, string, string], order: DateOrder): [string, string, string] {
  if (order === "ymd") return [first, second, third];
  return order === "dmy" ? [third, second, first] : [third, first, second];
}
