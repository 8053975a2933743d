import {
  deliveryMethods,
  planTypes,
  productStatuses,
  productTypes,
  whenShorts,
} from "../../../core/store/schema/values.ts";
import type { Store } from "../../../core/store/store.ts";
import { type Context, command } from "../../frame/command.ts";
import { CliError, usageError } from "../../kernel/errors.ts";
import { argument, choice, decimal, decimalOrNone, flag, integer, text, type ValuesOf } from "../../kernel/input.ts";
import { OPERATOR } from "../../place/operator.ts";
import { CHANGED_JSON, changedResult } from "./view.ts";

const fields = {
  price: decimal("--price <amount>", "wholesale price in the product's currency, e.g. 12.00"),
  status: choice("--status <status>", productStatuses, "whether it can be ordered"),
  name: text("--name <text>", "what it is called"),
  description: text("--description <text>", 'what it is; "" for none'),
  region: text("--region <text>", "where it works, in a word or two"),
  coverage: text("--coverage <places>", "countries by code or name, with commas or | between"),
  data: integer("--data-amount-mb <mb>", "how much data it has"),
  days: integer("--validity-days <days>", "how long it lasts", { min: 1 }),
  currency: text("--currency <code>", "of its price: ISO 4217"),
  type: choice("--type <type>", planTypes, "what the plan has"),
  productType: choice("--product-type <type>", productTypes, "what is delivered"),
  delivery: choice("--delivery-method <method>", deliveryMethods, "how it is delivered"),
  supplier: text("--supplier <name>", 'who delivers it; "" for none'),
  features: text("--features <list>", 'with | between; "" for none'),
  policy: text("--activation-policy <text>", 'when it starts; "" for no word on it'),
  network: text("--network-type <text>", 'such as 4G/5G; "" for no word on it'),
  devices: text("--compatible-devices <list>", 'with | between; "" for no list'),
};

const costs = {
  cost: decimalOrNone("--cost <amount>", "what a unit costs you, e.g. 1.2345; none: not known"),
  costCurrency: text("--cost-currency <code>", "of the cost: ISO 4217 (default: the product's)"),
};

const stockRule = {
  lowStock: text("--low-stock <n>", "alert the operator below so many in stock; none: never"),
  whenShort: choice(
    "--when-short <what>",
    whenShorts,
    "when its stock ends: orders wait in review, or it goes off sale",
  ),
};

type Given = ValuesOf<typeof fields>;

export default command({
  target: "operator",
  effects:
    "Holds at the daemon's next request. Orders already placed keep their price. Asks where a price is doubtful.",
  json: CHANGED_JSON,
  examples: [
    "products update ES-GLB-1GB-7D --price 8.40",
    "products update ES-GLB-1GB-7D --status out_of_stock",
    "products update ES-GLB-1GB-7D --cost 4.10 --cost-currency USD",
    "products update ES-GLB-1GB-7D --low-stock 50 --when-short out_of_stock",
    'products update ES-GLB-1GB-7D --coverage "FR|Viet Nam" --validity-days 10 --dry-run',
  ],
  args: { sku: argument("sku", "the product") },
  options: {
    ...fields,
    ...costs,
    ...stockRule,
    dryRun: flag("--dry-run", "show the product as it would be, and change nothing"),
  },
  async run(context, { sku, dryRun, lowStock, whenShort, cost: typed, costCurrency, ...given }) {
    const isGiven = (value: unknown) => value !== undefined;
    const rule = { low_stock: lowStock === undefined ? undefined : leastStock(lowStock), when_short: whenShort };
    const hasFields = Object.values(given).some(isGiven);
    const cost = await costOf(typed, costCurrency);
    if (!hasFields && cost === undefined && !Object.values(rule).some(isGiven)) {
      throw usageError("There is nothing to change.", "Give --price, --status or another field: see --help.");
    }
    const { changeProduct } = await import("../../../core/catalog/change.ts");
    return context.withStore(async ({ store }) => {
      const fields = hasFields ? await changeOf(context, store, sku, { given, dryRun }) : null;
      const change = { sku, fields, rule, cost, actor: OPERATOR };
      if (!dryRun) return changedResult(await store.write(changeProduct, change));
      context.note("Nothing was changed: this is the product as it would be.");
      return changedResult(await store.rehearse(changeProduct, change));
    });
  },
});

/** What a unit costs, as it was given. */
async function costOf(typed: string | null | undefined, currency: string | undefined) {
  if (typed === undefined && currency !== undefined) {
    throw usageError("--cost-currency goes with --cost.", "Add --cost, or leave it out.");
  }
  if (typed === undefined) return undefined;
  const { parseCost } = await import("../../../core/kernel/cost.ts");
  return { cost: typed === null ? null : parseCost(typed), currency: currency?.toUpperCase() ?? null };
}

function leastStock(typed: string): number | null {
  if (typed === "none") return null;
  if (/^[1-9]\d{0,8}$/.test(typed)) return Number(typed);
  throw usageError(`--low-stock must be a whole number above 0, or none, not "${typed}".`, "Correct it.");
}

/** The change with the API's names and types. Asks where its price is doubtful; a dry run only shows prices. */
async function changeOf(
  context: Context,
  store: Store,
  sku: string,
  { given, dryRun }: { given: Given; dryRun: boolean },
): Promise<Record<string, unknown>> {
  const [{ findProductBySku }, { parseAmount }, { priceChanges }, { confirmPrices, showPrices }] = await Promise.all([
    import("../../../core/catalog/product.ts"),
    import("../../kernel/amount.ts"),
    import("../../../core/catalog/price-changes.ts"),
    import("../../bulk/price-table.ts"),
  ]);
  const product = await store.read(findProductBySku, sku);
  if (product === null) throw new CliError("not_found", `No such product: ${sku}.`, "Check the SKU: products list.");
  const currency = given.currency?.toUpperCase() ?? product.currency;
  const { price, data, days, productType, delivery, policy, network, devices, features, coverage, ...same } = given;
  const change = {
    ...same,
    currency: given.currency === undefined ? undefined : currency,
    coverage: coverage === undefined ? undefined : [coverage],
    data_amount_mb: data,
    validity_days: days,
    price_cents: price === undefined ? undefined : parseAmount(price, currency, "--price"),
    product_type: productType,
    delivery_method: delivery,
    features: listed(features),
    activation_policy: policy,
    network_type: network,
    compatible_devices: listed(devices),
  };
  const named = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
  const after = {
    sku,
    currency,
    price_cents: change.price_cents ?? product.price_cents,
    data_amount_mb: data ?? product.data_amount_mb,
  };
  const prices = await store.read(priceChanges, [after]);
  await (dryRun ? showPrices : confirmPrices)(context, prices);
  return named;
}

function listed(text: string | undefined): string[] | undefined {
  return text?.split("|").map((part) => part.trim());
}
