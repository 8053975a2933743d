import { findClashes, linesWords } from "../../../core/csv/clashes.ts";
import type { CsvRow } from "../../../core/csv/rows.ts";
import { fieldSentences } from "../../../core/kernel/checked.ts";
import type { RuleInput, RuleProduct } from "../../../core/prices/rule-input.ts";
import { IMPORT_JSON, importCsv } from "../../bulk/import-csv.ts";
import { importOptions } from "../../bulk/reading.ts";
import { pricesCsv } from "../../csv/specs.ts";
import { command } from "../../frame/command.ts";
import { exitCodes } from "../../kernel/exit-codes.ts";
import { argument } from "../../kernel/input.ts";
import { OPERATOR } from "../../place/operator.ts";
import { newListWords } from "./view.ts";

type Row = CsvRow<(typeof pricesCsv)["columns"][number]>;

/** Rows with the same scope: one of them would replace the other. */
function scopeOf({ values: { sku, region, min_quantity, from, to } }: Row): string {
  return JSON.stringify([sku, region.toLowerCase(), Number(min_quantity || 1), from, to]);
}

export default command({
  target: "operator",
  effects:
    "Sets a rule for each row, as prices set does, also in a new list; a rule that is there already with the same " +
    "price is a duplicate. Bad rows go to a file.",
  json: IMPORT_JSON,
  examples: ["prices import gold gold.csv", "prices import gold gold.csv --dry-run"],
  exits: [exitCodes.someFailed],
  batches: true,
  csv: pricesCsv,
  args: {
    list: argument("list", "the price list"),
    file: argument("file", "CSV: sku or region, price or markup; min_quantity, from, to; - for stdin"),
  },
  options: importOptions,
  async run(context, { list, file, dryRun, strict, ...reading }) {
    const [{ importPriceRules }, { checkRule }, { ruleProducts }, { hasPriceList }] = await Promise.all([
      import("../../../core/prices/set-rule.ts"),
      import("../../../core/prices/rule-input.ts"),
      import("../../../core/prices/products.ts"),
      import("../../../core/prices/lists.ts"),
    ]);
    return context.withStore(async ({ store }) => {
      const known = await store.read(ruleProducts, null);
      const isNew = !(await store.read(hasPriceList, list));
      const products = new Map<string, RuleProduct>(known.map((product) => [product.sku, product]));
      const twice = findClashes<Row>(scopeOf, ({ values: { price, markup } }) => `${price} ${markup}`);
      const result = await importCsv(context, {
        file,
        spec: pricesCsv,
        survey: twice.see,
        check(row) {
          const checked = checkRule(row.values, (sku) => products.get(sku) ?? null);
          const lines = twice.linesOf(row);
          const problems = "problems" in checked ? fieldSentences(checked.problems) : [];
          if (lines !== null) problems.push(`price differs for the same units and days on ${linesWords(lines)}`);
          return problems.length > 0 || "problems" in checked ? { problems } : checked;
        },
        send: (rules: RuleInput[]) => store.write(importPriceRules, { list, rules, actor: OPERATOR }),
        dryRun,
        strict,
        reading,
      });
      // Where every row was bad, none was made.
      if (!isNew || !(dryRun || (await store.read(hasPriceList, list)))) return result;
      const words = dryRun ? `There is no price list ${list} yet: it would be new.` : newListWords(list);
      return { ...result, text: (sheet) => `${result.text(sheet)}\n\n${words}` };
    });
  },
});
