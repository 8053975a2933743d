import type { PartnerPrice } from "../../../core/partners/prices.ts";
import { command } from "../../frame/command.ts";
import { usageError } from "../../kernel/errors.ts";
import { optionalArgument, text } from "../../kernel/input.ts";
import type { Result } from "../../output/result.ts";
import type { Column } from "../../output/sheet.ts";
import { RULE_JSON, ruleColumns } from "./view.ts";

const priceColumns: Column<PartnerPrice>[] = [
  { title: "sku", value: ({ sku }) => sku },
  { title: "name", value: ({ name }) => name, shrinks: true },
  { title: "price", value: (one, sheet) => sheet.money(one.price_cents, one.currency), align: "right" },
  { title: "catalog's", value: (one, sheet) => sheet.money(one.catalog_price_cents, one.currency), align: "right" },
  { title: "by", value: ({ price_list }) => price_list ?? "catalog" },
];

export default command({
  target: "operator",
  shows: "record",
  effects: "Reads only. --partner shows what one unit of each active product costs the partner today (UTC).",
  json:
    `{list, data: [${RULE_JSON}], count}; with --partner {partner, price_list, rules: [as data], data: [{sku, name, ` +
    "price_cents, currency, catalog_price_cents, price_list}], count}",
  examples: ["prices show gold", "prices show --partner acme"],
  args: { list: optionalArgument("list", "the price list") },
  options: { partner: text("--partner <slug>", "what this partner pays, in place of a list") },
  async run(context, { list, partner }): Promise<Result> {
    if (partner !== undefined && list === undefined) {
      const { partnerPrices } = await import("../../../core/partners/prices.ts");
      const found = await context.withStore(({ store }) => store.read(partnerPrices, partner));
      const { price_list, rules, products } = found;
      const json = { partner, price_list, rules: rules.map(({ rule }) => rule), data: products };
      return {
        json: { ...json, count: products.length },
        text: (sheet) => sheet.table(priceColumns, products, "No product is active."),
      };
    }
    if (list === undefined || partner !== undefined) {
      throw usageError("Use exactly one of a list and --partner.", "Example: esimctl prices show gold");
    }
    const { showPriceList } = await import("../../../core/prices/show.ts");
    const found = await context.withStore(({ store }) => store.read(showPriceList, list));
    const rules = found.map(({ rule }) => rule);
    return {
      json: { list, data: rules, count: rules.length },
      text: (sheet) => sheet.table(ruleColumns, found, "No rules yet: esimctl prices set adds one."),
    };
  },
});
