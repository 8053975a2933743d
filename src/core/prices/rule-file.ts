import { findClashes, linesWords } from "../csv/clashes.ts";
import { type Checked, fieldSentences } from "../kernel/checked.ts";
import { checkRule, type RuleInput, type RuleProduct, type ruleFields } from "./rule-input.ts";

/** A row of a file of rules: the line on which it begins, and its values. */
export interface RuleRow {
  line: number;
  values: Readonly<Record<(typeof ruleFields)[number], string>>;
}

/** Checks the rows of a file: all of them are seen first, then each is checked. */
export interface RuleFile {
  see(row: RuleRow): void;
  check(row: RuleRow): Checked<RuleInput>;
}

/** Rows with the same scope: one of them would replace the other. */
function scopeOf({ values: { sku, region, min_quantity, from, to } }: RuleRow): string {
  return JSON.stringify([sku, region.toLowerCase(), Number(min_quantity || 1), from, to]);
}

/** Makes the checks of a file, against the products of the catalog. */
export function ruleFile(catalog: readonly RuleProduct[]): RuleFile {
  const products = new Map(catalog.map((product) => [product.sku, product]));
  const twice = findClashes<RuleRow>(scopeOf, ({ values: { price, markup } }) => `${price} ${markup}`);
  return {
    see: twice.see,
    check(row) {
      const checked = checkRule(row.values, (sku) => products.get(sku) ?? null);
      const lines = twice.linesOf(row);
      const problems = "problems" in checked ? fieldSentences(checked.problems) : [];
      if (lines !== null) problems.push(`price differs for the same units and days on ${linesWords(lines)}`);
      return problems.length > 0 || "problems" in checked ? { problems } : checked;
    },
  };
}
