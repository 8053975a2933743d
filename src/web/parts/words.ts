import { formatMoney, groupedMoney } from "../../core/kernel/money.ts";

/** A cell of a list or a record: text, a number, or what is written in its own way. */
export type Cell =
  | string
  | number
  | null
  /** To the minute; `exact`: to the second. */
  | { time: string | null; exact?: true }
  | { money: number; currency: string }
  | { status: string }
  | { meter: number; most: number; text: string }
  | { text: string; href: string }
  /** A link to a page under the face's base. */
  | { text: string; to: string }
  /** A text that a button copies. */
  | { copy: string };

/** 1234567 in AUD → "12,345.67 AUD". */
export function moneyWords(amount: number, currency: string): string {
  return `${groupedMoney(amount, currency)} ${currency}`;
}

const writers = new Map<string, Intl.DateTimeFormat>();

/** A moment in a time zone: "26 Nov 2026, 14:05", or with seconds. */
export function timeWords(iso: string, zone: string, exact = false): string {
  const timeStyle = exact ? "medium" : "short";
  const known = writers.get(zone + timeStyle);
  const writer = known ?? new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle, timeZone: zone });
  if (known === undefined && writers.size < 600) writers.set(zone + timeStyle, writer);
  return writer.format(new Date(iso));
}

/** A cell as plain text, as CSV has it. */
export function cellText(cell: Cell): string {
  if (cell === null) return "";
  if (typeof cell !== "object") return String(cell);
  if ("time" in cell) return cell.time ?? "";
  if ("money" in cell) return formatMoney(cell.money, cell.currency);
  if ("copy" in cell) return cell.copy;
  return "status" in cell ? cell.status : cell.text;
}

/** Names of fields that are no words of their own. */
const shortened = /\b(?:iccid|id|imsi|ip|pdf|puk|sim|sku|url)\b/g;

/** "tracking_url" → "Tracking URL" */
export function titleOf(name: string): string {
  const words = plain(name).replace(shortened, (one) => one.toUpperCase());
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

/** A word of the API as people read it: "pending_payment" → "pending payment". */
export function plain(word: string): string {
  return word.replaceAll("_", " ");
}
