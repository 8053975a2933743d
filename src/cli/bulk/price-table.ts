import { type PriceChange, signed } from "../../core/catalog/price-changes.ts";
import { counted } from "../../core/kernel/counted.ts";
import type { Context } from "../frame/command.ts";
import type { Column, Sheet } from "../output/sheet.ts";

/** Lines that a screen or two hold; the summary's JSON has all. */
const MOST = 50;
/** SKUs that a question names. */
const NAMED = 3;

const columns: Column<PriceChange>[] = [
  { title: "sku", value: ({ sku }) => sku },
  {
    title: "old",
    value: ({ from_cents, from_currency }, sheet) =>
      from_cents === null ? "new" : sheet.money(from_cents, from_currency ?? ""),
    align: "right",
  },
  { title: "new", value: ({ to_cents, currency }, sheet) => sheet.money(to_cents, currency), align: "right" },
  { title: "%", value: ({ percent }) => (percent === null ? null : signed(percent)), align: "right" },
  { title: "look at", value: ({ doubts }) => doubts.join("; "), wraps: true },
];

/** Prices as they change: SKU, old, new and percent, the doubtful ones first. */
function priceTable(sheet: Sheet, changes: readonly PriceChange[]): string {
  const sorted = changes.toSorted((one, other) => Number(other.doubts.length > 0) - Number(one.doubts.length > 0));
  const more = sorted.length - MOST;
  return `${sheet.table(columns, sorted.slice(0, MOST), "")}${more > 0 ? `\n… and ${more} more` : ""}`;
}

/**
 * Shows the prices that are about to change, and asks where one of them is doubtful. Throws what `Context.confirm`
 * throws.
 */
export async function confirmPrices(context: Context, changes: readonly PriceChange[]): Promise<void> {
  if (changes.length === 0) return;
  const doubtful = changes.filter(({ doubts }) => doubts.length > 0);
  if (doubtful.length === 0) return showPrices(context, changes);
  const named = doubtful.slice(0, NAMED).map(({ sku, doubts }) => `${sku}: ${doubts.join(", ")}`);
  const more = doubtful.length > NAMED ? `, and ${doubtful.length - NAMED} more` : "";
  const words = `${named.join("; ")}${more}`;
  const question = `Write ${counted(changes.length, "price")}, ${doubtful.length} doubtful (${words})?`;
  // Asked nowhere with --yes; what is written is shown all the same.
  if (context.globals.yes) await showPrices(context, changes);
  await context.confirm(question, { changes: async (sheet) => priceTable(sheet, changes) });
}

/** Shows the prices that are about to change, on stderr. */
export async function showPrices(context: Context, changes: readonly PriceChange[]): Promise<void> {
  if (changes.length === 0 || context.globals.json) return;
  const { makeSheet } = await import("../output/make-sheet.ts");
  for (const line of priceTable(makeSheet(process.stderr, context.globals), changes).split("\n")) context.note(line);
}
