import { AFTER_REMOVAL, KEPT_PRICES } from "../../../core/prices/words.ts";
import { command } from "../../frame/command.ts";
import { argument } from "../../kernel/input.ts";
import { OPERATOR } from "../../place/operator.ts";
import { RULE_FIELDS, RULE_JSON, ruleResult, scopeOptions } from "./view.ts";

export default command({
  target: "operator",
  effects:
    "Removes the one rule with this product or region, units and days, from the daemon's next request on. " +
    `${AFTER_REMOVAL} ${KEPT_PRICES}`,
  fields: RULE_FIELDS,
  json: `${RULE_JSON}: the rule that was removed`,
  examples: ["prices remove gold --sku ES-GLB-1GB-7D --min-quantity 50"],
  args: { list: argument("list", "the price list") },
  options: scopeOptions,
  async run(context, { list, minQuantity, ...typed }) {
    const { removePriceRule } = await import("../../../core/prices/set-rule.ts");
    const input = { list, rule: { ...typed, min_quantity: minQuantity }, actor: OPERATOR };
    return ruleResult(await context.withStore(({ store }) => store.write(removePriceRule, input)));
  },
});
