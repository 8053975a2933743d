import { counted } from "../../../core/kernel/counted.ts";
import type { BelowCost } from "../../../core/prices/rule-file.ts";
import type { Column, Sheet } from "../../output/sheet.ts";

/** Rows that are shown; the JSON has all. */
const MOST = 10;

const columns: Column<BelowCost>[] = [
  { title: "sku", value: ({ sku }) => sku },
  { title: "price", value: ({ price_cents, currency }, sheet) => sheet.money(price_cents, currency), align: "right" },
  { title: "cost", value: ({ cost, cost_currency }) => `${cost} ${cost_currency}`, align: "right" },
];

/** The rows of a file whose price is below the cost: how many there are, and the first of them; "" for none. */
export function belowCostText(sheet: Sheet, rows: readonly BelowCost[]): string {
  if (rows.length === 0) return "";
  const more = rows.length > MOST ? `\n… and ${rows.length - MOST} more` : "";
  const words = `Look at ${counted(rows.length, "price")} again, below the product's cost:`;
  return `${words}\n${sheet.table(columns, rows.slice(0, MOST), "")}${more}`;
}
