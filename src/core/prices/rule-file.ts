import { findClashes, linesWords } from "../csv/clashes.ts";
import type { CheckedRow } from "../csv/rows.ts";
import { fieldSentences } from "../kernel/checked.ts";
import { type BelowCost, lossOf } from "./at-cost.ts";
import type { ListedProduct } from "./products.ts";
import { checkRule, type RuleInput, type RuleProduct, type ruleFields } from "./rule-input.ts";

/** A row of a file of rules: the line on which it begins, and its values. */
export interface RuleRow {
  line: number;
  values: Readonly<Record<(typeof ruleFields)[number], string>>;
}

/** Checks the rows of a file: all of them are seen first, then each is checked. */
export interface RuleFile {
  see(row: RuleRow): void;
  check(row: RuleRow): CheckedRow<RuleInput>;
  /** Those of the good rows checked so far that lose money. */
  belowCost(): RowBelowCost[];
}

/** Rows with the same scope: one of them would replace the other. */
function scopeOf({ values: { sku, region, min_quantity, from, to } }: RuleRow): string {
  return JSON.stringify([sku, region.toLowerCase(), Number(min_quantity || 1), from, to]);
}

/** A row whose price is below the product's cost at the rate of today. */
export interface RowBelowCost extends BelowCost {
  sku: string;
}

/** Makes the checks of a file, against the products of the catalog. */
export function ruleFile(catalog: readonly ListedProduct[]): RuleFile {
  const products = new Map(catalog.map((product) => [product.sku, product]));
  const twice = findClashes<RuleRow>(scopeOf, ({ values: { price, markup } }) => `${price} ${markup}`);
  const below = new Map<number, RowBelowCost>();
  return {
    see: twice.see,
    check(row) {
      const checked = checkRule(row.values, (sku) => ruleProduct(products.get(sku)));
      const lines = twice.linesOf(row);
      const problems = "problems" in checked ? fieldSentences(checked.problems) : [];
      if (lines !== null) problems.push(`price differs for the same units and days on ${linesWords(lines)}`);
      if (problems.length > 0 || "problems" in checked) return { problems };
      const loss = rowLoss(checked.ok, products.get(checked.ok.product?.sku ?? ""));
      if (loss === null) return checked;
      below.set(row.line, loss);
      return { ...checked, warnings: ["price is below the product's cost"] };
    },
    belowCost: () => [...below.values()],
  };
}

/** Without its cost: rules are kept and sent. */
function ruleProduct(product: ListedProduct | undefined): RuleProduct | null {
  return product === undefined ? null : { id: product.id, sku: product.sku, currency: product.currency };
}

function rowLoss({ price_cents }: RuleInput, product: ListedProduct | undefined): RowBelowCost | null {
  if (price_cents === null || product === undefined) return null;
  const loss = lossOf(price_cents, product, product.least_cents);
  return loss && { sku: product.sku, ...loss };
}
