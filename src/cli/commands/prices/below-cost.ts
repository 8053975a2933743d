import type { RowBelowCost } from "../../../core/prices/rule-file.ts";
import { belowCostWords, MOST_BELOW_COST } from "../../../core/prices/words.ts";
import type { Column, Sheet } from "../../output/sheet.ts";

const columns: Column<RowBelowCost>[] = [
  { title: "sku", value: ({ sku }) => sku },
  { title: "price", value: ({ price_cents, currency }, sheet) => sheet.money(price_cents, currency), align: "right" },
  { title: "cost", value: ({ cost, cost_currency }) => `${cost} ${cost_currency}`, align: "right" },
];

/** The rows of a file whose price is below the cost: how many there are, and the first ones; "" for none. */
export function belowCostText(sheet: Sheet, rows: readonly RowBelowCost[]): string {
  if (rows.length === 0) return "";
  const more = rows.length > MOST_BELOW_COST ? `\n… and ${rows.length - MOST_BELOW_COST} more` : "";
  return `${belowCostWords(rows.length)}:\n${sheet.table(columns, rows.slice(0, MOST_BELOW_COST), "")}${more}`;
}
