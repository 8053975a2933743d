import type { RuleInput } from "../../../core/prices/rule-input.ts";
import { IMPORT_JSON, importCsv, importResult } from "../../bulk/import-csv.ts";
import { importOptions } from "../../bulk/reading.ts";
import { pricesCsv } from "../../csv/specs.ts";
import { command } from "../../frame/command.ts";
import { exitCodes } from "../../kernel/exit-codes.ts";
import { argument } from "../../kernel/input.ts";
import { OPERATOR } from "../../place/operator.ts";
import { belowCostText } from "./below-cost.ts";
import { newListWords, RULE_FIELDS } from "./view.ts";

const JSON_KEYS = `${IMPORT_JSON.slice(0, -1)}, below_cost: [{sku, price_cents, currency, cost, cost_currency}]}`;

export default command({
  target: "operator",
  effects:
    "Sets a rule for each row, as prices set does, also in a new list; a rule that is there already with the same " +
    "price is a duplicate. A price below the product's cost is named. Bad rows go to a file.",
  fields: RULE_FIELDS,
  json: JSON_KEYS,
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
    const [{ importPriceRules }, { ruleFile }, { ruleProducts }, { hasPriceList }] = await Promise.all([
      import("../../../core/prices/set-rule.ts"),
      import("../../../core/prices/rule-file.ts"),
      import("../../../core/prices/products.ts"),
      import("../../../core/prices/lists.ts"),
    ]);
    return context.withStore(async ({ store }) => {
      const { see, check, belowCost } = ruleFile(await store.read(ruleProducts, null));
      const isNew = !(await store.read(hasPriceList, list));
      const result = await importCsv(context, {
        file,
        spec: pricesCsv,
        survey: see,
        check,
        send: (rules: RuleInput[]) => store.write(importPriceRules, { list, rules, actor: OPERATOR }),
        dryRun,
        strict,
        reading,
        present(summary, exitCode) {
          const below_cost = belowCost();
          const { text } = importResult(summary, exitCode, dryRun);
          return {
            ...{ json: { ...summary, below_cost }, exitCode },
            text: (sheet) => [text(sheet), belowCostText(sheet, below_cost)].filter((part) => part !== "").join("\n\n"),
          };
        },
      });
      // Where every row was bad, none was made.
      if (!isNew || !(dryRun || (await store.read(hasPriceList, list)))) return result;
      const words = dryRun ? `There is no price list ${list} yet: it would be new.` : newListWords(list);
      return { ...result, text: (sheet) => `${result.text(sheet)}\n\n${words}` };
    });
  },
});
