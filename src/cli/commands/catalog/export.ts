import { parseMarkup, STANDARD_MARKUP } from "../../../core/catalog/retail-price.ts";
import { type Offer, type OfferTerms, toOffer } from "../../../core/catalog/sync/offer.ts";
import { type ShopFormat, shopFormatNames, shopFormats } from "../../../core/catalog/sync/shop-formats.ts";
import { isLoopbackHost } from "../../../core/kernel/http-url.ts";
import { requireCurrency } from "../../../core/kernel/money.ts";
import { Problem } from "../../../core/kernel/problem.ts";
import { type PlanType, type ProductPurpose, planTypes, productPurposes } from "../../../core/store/schema/values.ts";
import type { CatalogSync, PageBody, Product } from "../../client/answers.ts";
import { type Api, apiPath } from "../../client/api.ts";
import { type Context, command } from "../../frame/command.ts";
import { usageError } from "../../kernel/errors.ts";
import { choice, type Option, required, text } from "../../kernel/input.ts";
import { cleanJson } from "../../output/clean.ts";
import { piecesOf, writeFileWhole, writeToStdout } from "../../output/file.ts";
import type { Result } from "../../output/result.ts";

export default command({
  target: "catalog",
  effects:
    "Reads only; writes FILE with -o. CSV is what the platform's own product importer takes. Shops load the " +
    "pictures, as PNG, from the server's public address.",
  json: "the API's body: {format, generated_at, currency_note, count, products}; with -o: {file, format, as, count}",
  examples: [
    "catalog export --format shopify -o products.csv",
    "catalog export --format woocommerce --region Europe --markup 45 -o europe.csv",
    "catalog export --format generic --as json --type data_only",
  ],
  args: {},
  options: {
    format: required(choice("--format <format>", shopFormatNames, "whose form it takes")),
    as: choice("--as <form>", ["csv", "json"], "default csv; json with --json or a FILE.json"),
    markup: markupOption(),
    region: text("--region <region>", "only this region, in any case"),
    country: text("--country <country>", "only what covers this country: JP, JPN or Japan"),
    type: choice("--type <type>", planTypes, "only this type"),
    purpose: choice("--purpose <purpose>", productPurposes, "topup: what eSIMs are topped up with (default plan)"),
    currency: text("--currency <code>", "only prices in this currency: a shop takes no more than one"),
    output: text("-o, --output <file>", "write here instead of stdout"),
  },
  async run(context, { format, as, markup, region, country, type, purpose, currency, output }) {
    const query = { region, country, type, purpose, currency: currency?.toUpperCase() };
    if (query.currency !== undefined) requireCurrency(query.currency);
    const asked = { format, as: as ?? usualForm(context, output), markup, query, output };
    if (asked.as === "csv" && context.globals.json && output === undefined) {
      throw usageError(
        "--json prints one JSON document, CSV is none.",
        "Leave --as csv out, or write it with -o FILE.",
      );
    }
    return context.withApi(async (api) => {
      warnOfPictures(context, api.address);
      return asked.as === "json" ? exportJson(api, asked) : exportCsv(context, api, asked);
    });
  },
});

interface ExportOptions {
  format: ShopFormat;
  as: "csv" | "json";
  markup: string;
  query: {
    region?: string | undefined;
    country?: string | undefined;
    type?: PlanType | undefined;
    purpose?: ProductPurpose | undefined;
    currency?: string | undefined;
  };
  output: string | undefined;
}

/** Shops load the pictures themselves, from wherever they are. */
function warnOfPictures(context: Context, address: string): void {
  if (!isLoopbackHost(new URL(address).hostname)) return;
  context.warn(`Pictures are at ${address}, this machine: no shop can load them. Serve with --public-url first.`);
}

function usualForm({ globals }: Context, output: string | undefined): "csv" | "json" {
  return output === undefined ? (globals.json ? "json" : "csv") : /\.json$/i.test(output) ? "json" : "csv";
}

/** `--markup 30`: kept as typed. */
function markupOption(): Option<string> {
  const read = (given: unknown) => {
    const typed = typeof given === "string" ? given : String(STANDARD_MARKUP);
    try {
      parseMarkup(typed);
      return typed;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      throw usageError(`--markup ${error.errors?.markup?.join(" and ")}, not "${typed}".`, "Correct the percentage.");
    }
  };
  const help = `percent on top of the wholesale price (default ${STANDARD_MARKUP})`;
  return { flags: ["--markup <percent>"], help, required: false, read };
}

async function exportJson(api: Api, { format, as, markup, query, output }: ExportOptions): Promise<Result> {
  const sync = { ...query, format: shopFormats[format], markup };
  const { body } = await api.request<CatalogSync>("GET", apiPath`/catalog/sync`, { query: sync });
  const document = cleanJson(body);
  if (output === undefined) return { json: body, text: () => document };
  await writeFileWhole(output, piecesOf(`${document}\n`));
  return written({ file: output, format, as, count: body.count });
}

async function exportCsv(context: Context, api: Api, { format, as, markup, query, output }: ExportOptions) {
  const { shopCsv } = await import("../../../core/catalog/sync/shop-file.ts");
  const currencies = new Set<string>();
  const apostrophes = new Set<string>();
  let count = 0;
  const terms = { markup: parseMarkup(markup), pictures: api.address };
  const csv = shopCsv(format, offers(api, query, terms), ({ product }, isGuarded) => {
    count += 1;
    currencies.add(product.currency);
    if (isGuarded) apostrophes.add(product.sku);
  });
  await (output === undefined ? writeToStdout(csv) : writeFileWhole(output, csv));
  if (currencies.size > 1) {
    context.warn(`Prices are in ${[...currencies].sort().join(", ")}: no shop takes more than one from a file.`);
  }
  if (apostrophes.size > 0) context.warn(apostropheWords([...apostrophes]));
  return output === undefined ? null : written({ file: output, format, as, count });
}

function apostropheWords(skus: readonly string[]): string {
  const named = skus.length > 5 ? `${skus.slice(0, 5).join(", ")} and ${skus.length - 5} more` : skus.join(", ");
  return (
    `An apostrophe is before what a spreadsheet would run as a formula, and shops show it too: ${named}. ` +
    "Rename them, or export --as json."
  );
}

function written(summary: { file: string; format: ShopFormat; as: string; count: number }): Result {
  const { file, count } = summary;
  return { json: summary, text: () => `${count} ${count === 1 ? "product" : "products"} written to ${file}` };
}

/**
 * The catalog as a shop would sell it, one page after the other, so that a catalog of any size takes the memory of one
 * page. GET /catalog/sync answers all at once; this makes the same rows by the same functions.
 */
async function* offers(api: Api, query: ExportOptions["query"], terms: OfferTerms): AsyncGenerator<Offer> {
  const { currency, ...filter } = query;
  let cursor: string | undefined;
  do {
    const page = { ...filter, status: "active", sort_by: "created_at", sort_order: "asc", limit: 100, cursor };
    const { body } = await api.request<PageBody<Product>>("GET", apiPath`/products`, { query: page });
    for (const product of body.data) {
      if (currency === undefined || product.currency === currency) yield toOffer(product, terms);
    }
    cursor = body.pagination.next_cursor ?? undefined;
  } while (cursor !== undefined);
}
