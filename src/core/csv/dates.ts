import { isCivilDate } from "../kernel/calendar-day.ts";

/** The orders of day, month and year in dates that are not written as YYYY-MM-DD. */
export const dateOrders = ["dmy", "mdy", "ymd"] as const;
export type DateOrder = (typeof dateOrders)[number];

/** Columns that hold a day. */
const dayColumns: ReadonlySet<string> = new Set([
  "activation_date",
  "requested_activation_date",
  "date_of_birth",
  "passport_expiry",
  "from",
  "to",
]);

/** Whether a column holds a day. */
export function isDayColumn(column: string): boolean {
  return dayColumns.has(column);
}

const PARTS = /^(\d{1,4})[./-](\d{1,2})[./-](\d{1,4})$/;
const ISO = /^\d{4}-\d{2}-\d{2}$/;

/** The numbers of a date as they are written; null: it is YYYY-MM-DD, or no date. Years have four digits. */
function dateParts(text: string): [string, string, string] | null {
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

/** The numbers of a date that is a day in some order; null: it is YYYY-MM-DD, or no day in any order. */
function otherwiseWritten(text: string): [string, string, string] | null {
  return dateOrders.some((order) => isCivilDate(isoDay(text, order))) ? dateParts(text) : null;
}

/** Counts how dates are written that are not YYYY-MM-DD. */
export interface DateTally {
  see(days: readonly string[], values: Readonly<Record<string, string>>): void;
  /** Rows with such a date. */
  rows(): number;
  /** The order that alone fits them; null: none of them says which, or some say otherwise than others. */
  order(): DateOrder | null;
}

/** A tally of no rows. */
export function tallyDates(): DateTally {
  let rows = 0;
  const orders = new Set<DateOrder>();
  return {
    see(days, values) {
      const parts = days.map((column) => otherwiseWritten(values[column] ?? "")).filter((found) => found !== null);
      if (parts.length === 0) return;
      rows += 1;
      if (parts.some(([first]) => first.length === 4)) orders.add("ymd");
      else if (parts.some(([first]) => Number(first) > 12)) orders.add("dmy");
      else if (parts.some(([, second]) => Number(second) > 12)) orders.add("mdy");
    },
    rows: () => rows,
    order() {
      const [only, second] = orders;
      return only === undefined || second !== undefined ? null : only;
    },
  };
}
