import { ABOUT_ADDING } from "../../../core/supply/source-words.ts";
import { command } from "../../frame/command.ts";
import { argument, decimal, integer, required, text } from "../../kernel/input.ts";
import { OPERATOR } from "../../place/operator.ts";
import { SOURCE_JSON, sourceResult } from "./view.ts";

export default command({
  target: "operator",
  effects:
    `${ABOUT_ADDING} Again with the same supplier: ` +
    "changes that source. Without --cost it has what the last sync read of the plan; a sync keeps the cost up to date.",
  json: SOURCE_JSON,
  examples: [
    "sources add ES-JP-1GB-7D --supplier ea --supplier-sku CJP101 --priority 1",
    "sources add ES-JP-DAY-5D --supplier ea --supplier-sku DJP1 --days 5 --priority 2 --cost 3.25 --currency USD",
  ],
  args: { sku: argument("sku", "the product, delivered by supplier_api") },
  options: {
    supplier: required(text("--supplier <name>", "a supplier that speaks a provider's API")),
    supplierSku: required(text("--supplier-sku <plan>", "the plan as the supplier names it")),
    priority: required(integer("--priority <n>", "1 is asked first", { min: 1, max: 1_000 })),
    days: integer("--days <n>", "of a daily plan: for how many days it is bought", { min: 1, max: 365 }),
    cost: decimal("--cost <amount>", "what a unit costs there, e.g. 1.2345"),
    currency: text("--currency <code>", "of its cost: ISO 4217"),
  },
  async run(context, { sku, cost, currency, days = null, ...given }) {
    const [{ addSource }, { parseCost }] = await Promise.all([
      import("../../../core/supply/sources.ts"),
      import("../../../core/kernel/cost.ts"),
    ]);
    const amount = { cost: cost === undefined ? null : parseCost(cost), currency: currency?.toUpperCase() ?? null };
    const input = { ...given, ...amount, sku, days, actor: OPERATOR };
    return sourceResult(await context.withStore(({ store }) => store.write(addSource, input)));
  },
});
