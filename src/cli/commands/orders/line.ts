import type { Product, ProductDetail } from "../../client/answers.ts";
import { type Api, apiPath } from "../../client/api.ts";
import { productId } from "../../client/product-id.ts";
import type { Context } from "../../frame/command.ts";
import { CliError, usageError } from "../../kernel/errors.ts";
import { integer, text, type ValuesOf } from "../../kernel/input.ts";
import { isInteractive, pick } from "../../output/prompts.ts";
import { travelerOptions, travelersFor } from "./travelers.ts";

const quantityOption = integer("--quantity <n>", "how many, 1 to 10000", { min: 1, max: 10_000 });

/** What a command takes that orders or quotes one product. */
export const lineOptions = {
  product: text("--product <sku-or-id>", "what to order; needed"),
  quantity: quantityOption,
  ...travelerOptions,
};

/** A line, and the body that orders it. */
export interface Ordered {
  /** Null where the credential may not read the catalog. */
  detail: ProductDetail | null;
  count: number;
  requests: Awaited<ReturnType<typeof travelersFor>>["requests"];
  /** Whether a person was asked for some of it. */
  asked: boolean;
  body: object;
}

/** Throws a usage error for what is left out without a terminal to ask at. */
export function refuseMissing({ globals }: Context, given: ValuesOf<typeof lineOptions>, verb: string): void {
  if (isInteractive(globals)) return;
  const { product, quantity } = given;
  const missing = product === undefined ? "--product <sku-or-id>" : quantity === undefined ? "--quantity <n>" : null;
  if (missing === null) return;
  throw usageError(`Required option '${missing}' not specified.`, `See esimctl orders ${verb} --help.`);
}

/** The line that the options name; what they leave out is asked for. Throws a usage error. */
export async function orderedLine(
  context: Context,
  api: Api,
  { product, quantity, ...traveler }: ValuesOf<typeof lineOptions>,
): Promise<Ordered> {
  const chosen = product === undefined ? await pickProduct(context, api) : await productId(api, product);
  const count = quantity ?? (await askQuantity(context));
  const detail = await productDetail(api, chosen);
  const { requests, asked } = await travelersFor(context, { product: detail, count, traveler });
  const lines = { line_items: [{ product_id: chosen, quantity: count }] };
  const body = requests.length === 0 ? lines : { ...lines, activation_requests: requests };
  return { detail, count, requests, asked: asked || product === undefined || quantity === undefined, body };
}

/** The product, or null where the credential may place orders and not read the catalog. */
async function productDetail(api: Api, id: string): Promise<ProductDetail | null> {
  try {
    return (await api.request<ProductDetail>("GET", apiPath`/products/${id}`)).body;
  } catch (error) {
    if (error instanceof CliError && error.code === "insufficient_scope") return null;
    throw error;
  }
}

async function pickProduct({ globals }: Context, api: Api): Promise<string> {
  const choices = async () => {
    const { makeSheet } = await import("../../output/make-sheet.ts");
    const { productsOnSale } = await import("./forecast.ts");
    const sheet = makeSheet(process.stderr, globals);
    const products = [...(await productsOnSale(api)).values()];
    const name = ({ sku, name: title, price_cents, currency }: Product) =>
      `${sku}  ${title}  ${sheet.money(price_cents, currency)}`;
    return products.map((product) => ({ value: product.id, name: name(product) }));
  };
  return pick("Product:", choices, "--product", globals);
}

async function askQuantity({ globals }: Context): Promise<number> {
  const { text: ask } = await import("../../output/prompts.ts");
  const check = (typed: string) => quantityOption.read(typed);
  return Number(await ask("Quantity:", "--quantity", globals, { check, suggested: "1" }));
}
