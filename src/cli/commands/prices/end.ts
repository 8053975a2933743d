import { AFTER_REMOVAL, KEPT_PRICES } from "../../../core/prices/words.ts";
import { command } from "../../frame/command.ts";
import { argument, required, text } from "../../kernel/input.ts";
import { OPERATOR } from "../../place/operator.ts";
import { RULE_FIELDS, RULE_JSON, ruleResult, scopeOptions } from "./view.ts";

export default command({
  target: "operator",
  effects:
    "Lets the one rule with this product or region, units and days end on a day, the first UTC day on which it no " +
    `longer holds. ${AFTER_REMOVAL} ${KEPT_PRICES}`,
  fields: { ...RULE_FIELDS, end: "--on" },
  json: `${RULE_JSON}: the rule as it is now`,
  examples: ["prices end gold --sku ES-GLB-1GB-7D --on 2027-01-01"],
  args: { list: argument("list", "the price list") },
  options: { ...scopeOptions, on: required(text("--on <day>", "the day, YYYY-MM-DD")) },
  async run(context, { list, minQuantity, on: end, ...typed }) {
    const { endPriceRule } = await import("../../../core/prices/end-rule.ts");
    const input = { list, rule: { ...typed, min_quantity: minQuantity }, end, actor: OPERATOR };
    return ruleResult(await context.withStore(({ store }) => store.write(endPriceRule, input)));
  },
});
