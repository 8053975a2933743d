import { sandboxScenarios } from "../../../core/store/schema/values.ts";
import type { Product, Topup, TopupProducts } from "../../client/answers.ts";
import { type Api, apiPath } from "../../client/api.ts";
import { esimIccid, ownerOfEsim } from "../../client/identifiers.ts";
import { type Context, command } from "../../frame/command.ts";
import { CliError } from "../../kernel/errors.ts";
import { choice, decimal, text } from "../../kernel/input.ts";
import { listResult, type Result } from "../../output/result.ts";
import type { Column } from "../../output/sheet.ts";
import { topupResult } from "../topup-record.ts";
import { esimArgument } from "./view.ts";

const columns: Column<Product>[] = [
  { title: "sku", value: (product) => product.sku },
  { title: "name", value: (product) => product.name, shrinks: true },
  { title: "data", value: (product) => `${product.data_amount_mb} MB`, align: "right" },
  { title: "days", value: (product) => product.validity_days, align: "right" },
  { title: "price", value: (product, sheet) => sheet.money(product.price_cents, product.currency), align: "right" },
];

export default command({
  target: "partner",
  shows: "rows",
  effects:
    "Without --product it reads only, and lists what the eSIM can be topped up with. With it the wallet is charged " +
    "and the top-up is bought within seconds; what the supplier refuses is refunded. The sandbox charges nothing.",
  json: "without --product {data: [product], count}; with it the API's body: {id, iccid, product_sku, status, …}",
  examples: [
    "esims topup 8944590004463637008 --partner acme",
    "esims topup 8944590004463637008 --product EA-TOPUP_3GB --max-total 12.50 --partner acme",
  ],
  args: { esim: esimArgument },
  options: {
    product: text("--product <sku>", "what to top it up with: a SKU of the list"),
    maxTotal: decimal("--max-total <amount>", "the most that it may cost, in the product's currency: 12.50"),
    scenario: choice("--scenario <scenario>", sandboxScenarios, "in the sandbox: how the top-up ends"),
    key: text("--idempotency-key <key>", "repeating it answers the same top-up; left out: a fresh one"),
  },
  async run(context, { esim, product, ...given }) {
    return context.withApi(async (api) => {
      const iccid = await esimIccid(api, esim);
      const { body } = await api.request<TopupProducts>("GET", apiPath`/esims/${iccid}/topup-products`);
      if (product === undefined) return listResult(body.data, columns, "This eSIM cannot be topped up.");
      const chosen = body.data.find(({ sku, id }) => sku === product.trim() || id === product.trim());
      if (chosen !== undefined) return topUp(context, api, { iccid, product: chosen, ...given });
      const hint = `See esimctl esims topup ${iccid}`;
      throw new CliError("not_found", `This eSIM cannot be topped up with ${product}.`, hint);
    }, ownerOfEsim(esim));
  },
});

interface TopupOptions {
  iccid: string;
  product: Product;
  maxTotal: string | undefined;
  scenario: (typeof sandboxScenarios)[number] | undefined;
  key: string | undefined;
}

async function topUp(
  context: Context,
  api: Api,
  { iccid, product, maxTotal, scenario, key }: TopupOptions,
): Promise<Result> {
  const { parseAnyAmount } = await import("../../kernel/amount.ts");
  const most = maxTotal === undefined ? undefined : parseAnyAmount(maxTotal, product.currency, "--max-total");
  const body = { product_id: product.id, ...(most === undefined ? {} : { max_total_cents: most }) };
  const asked: Record<string, string> = scenario === undefined ? {} : { "x-sandbox-scenario": scenario };
  const headers = { "idempotency-key": key ?? crypto.randomUUID(), ...asked };
  const answer = await api.request<Topup>("POST", apiPath`/esims/${iccid}/topups`, { body, headers });
  if (answer.headers["idempotent-replayed"] === "true") context.note("This key made this top-up before.");
  return topupResult(answer.body);
}
