import { ABOUT_MARKUPS, KEPT_PRICES, unknownCostWords, unknownRegionWords } from "../../../core/prices/words.ts";
import { command } from "../../frame/command.ts";
import { argument, decimal, excluding } from "../../kernel/input.ts";
import { OPERATOR } from "../../place/operator.ts";
import { newListWords, RULE_FIELDS, RULE_JSON, ruleResult, scopeOptions } from "./view.ts";

export default command({
  target: "operator",
  effects:
    `Holds at the daemon's next request for the partners that have the list. ${KEPT_PRICES} ` +
    "A list that is not there yet is made, and named as new. A rule for the same product or region, units and days " +
    `is replaced. ${ABOUT_MARKUPS}`,
  fields: RULE_FIELDS,
  json: RULE_JSON,
  examples: [
    "prices set gold --sku ES-GLB-1GB-7D --price 3.10",
    "prices set gold --sku ES-GLB-1GB-7D --price 2.80 --min-quantity 50",
    "prices set gold --region Europe --markup 35 --from 2026-12-01 --to 2027-01-01",
  ],
  args: { list: argument("list", "the price list") },
  options: {
    ...scopeOptions,
    price: decimal("--price <amount>", "of the product, in its currency, e.g. 3.10"),
    markup: excluding(decimal("--markup <percent>", "on the cost, e.g. 35"), "--price"),
  },
  async run(context, { list, minQuantity, ...typed }) {
    const [{ setPriceRule }, { hasRegion }, { belowCost, costsOfRule }, { findProductBySku }] = await Promise.all([
      import("../../../core/prices/set-rule.ts"),
      import("../../../core/prices/products.ts"),
      import("../../../core/catalog/price-doubts.ts"),
      import("../../../core/catalog/product.ts"),
    ]);
    const input = { list, rule: { ...typed, min_quantity: minQuantity }, actor: OPERATOR };
    return context.withStore(async ({ store }) => {
      const set = await store.write(setPriceRule, input);
      const { region } = set.rule;
      // It may be set before the region's first product is there.
      if (region !== undefined && !(await store.read(hasRegion, region))) {
        context.warn(unknownRegionWords(region));
      }
      const { sku, price_cents, markup } = set.rule;
      const product = sku === undefined ? null : await store.read(findProductBySku, sku);
      const unknown =
        markup === undefined ? null : unknownCostWords(await store.read(costsOfRule, { product, region }));
      if (unknown !== null) context.warn(unknown);
      const loss = product && price_cents !== undefined && (await store.read(belowCost, { ...product, price_cents }));
      if (loss) context.warn(`Look at the price again: ${loss}.`);
      return ruleResult(set, set.isNewList ? newListWords(list) : undefined);
    });
  },
});
