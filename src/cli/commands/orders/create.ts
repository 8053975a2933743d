import type { CreatedOrder, Product, ProductDetail } from "../../client/answers.ts";
import { type Api, apiPath } from "../../client/api.ts";
import { productId } from "../../client/product-id.ts";
import { type Context, command } from "../../frame/command.ts";
import { CliError, usageError } from "../../kernel/errors.ts";
import { integer, text } from "../../kernel/input.ts";
import { isInteractive, pick } from "../../output/prompts.ts";
import { recordResult } from "../../output/result.ts";
import type { Sheet } from "../../output/sheet.ts";
import { orderFields, undeliveredNote } from "./order.ts";
import { travellerOptions, travellersFor } from "./travellers.ts";

const quantityOption = integer("--quantity <n>", "how many, 1 to 10000", { min: 1, max: 10_000 });

export default command({
  target: "partner",
  effects:
    "Charges the wallet and places the order, in one step; in the sandbox nothing is charged. Products that are " +
    "delivered on a day need a traveller for each unit. At a terminal it asks for what is left out, shows a summary " +
    "and asks before it orders.",
  json: "the API's body: {id, order_number, status, total_price_cents, currency, wallet_balance_after_cents, …}",
  examples: [
    "orders create --partner acme --product ES-GLB-1GB-7D --quantity 2",
    "orders create --partner acme --sandbox --product ES-GLB-1GB-7D --quantity 1 --idempotency-key INV-2041",
    "orders create --product EM-MG-8GB-30D --quantity 1 --name Ada --email ada@example.com --date 2027-11-01",
    "orders create --partner acme",
  ],
  args: {},
  options: {
    product: text("--product <sku-or-id>", "what to order; needed"),
    quantity: quantityOption,
    ...travellerOptions,
    key: text("--idempotency-key <key>", "repeating it answers the same order; left out: a fresh one"),
  },
  async run(context, { product, quantity, key, ...traveller }) {
    refuseMissing(context, { product, quantity });
    return context.withApi(async (api) => {
      const chosen = product === undefined ? await pickProduct(context, api) : await productId(api, product);
      const count = quantity ?? (await askQuantity(context));
      const detail = await productDetail(api, chosen);
      const { requests, asked } = await travellersFor(context, { product: detail, count, traveller });
      if (detail !== null && (asked || product === undefined || quantity === undefined)) {
        const changes = async (sheet: Sheet) => summary(sheet, { product: detail, count, requests });
        await context.confirm(`Order ${count} × ${detail.sku}?`, { whose: api.actsAs, changes });
      }
      const lines = { line_items: [{ product_id: chosen, quantity: count }] };
      const body = requests.length === 0 ? lines : { ...lines, activation_requests: requests };
      return place(context, api, { body, key });
    });
  },
});

async function place(context: Context, api: Api, { body, key }: { body: unknown; key: string | undefined }) {
  const headers = { "idempotency-key": key ?? crypto.randomUUID() };
  const answer = await api.request<CreatedOrder>("POST", apiPath`/orders`, { body, headers });
  const order = answer.body;
  const replayed = answer.headers["idempotent-replayed"] === "true";
  const record = recordResult(order, (sheet) => ({
    ...orderFields(sheet, order),
    "wallet after": sheet.money(order.wallet_balance_after_cents, order.currency),
  }));
  if (replayed) context.note("This key made this order before.");
  const open = order.status === "paid" || order.status === "pending_payment";
  return { ...record, note: open ? await undeliveredNote(context) : undefined };
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

interface Given {
  product: string | undefined;
  quantity: number | undefined;
}

/** Throws a usage error without a terminal to ask at. */
function refuseMissing({ globals }: Context, { product, quantity }: Given): void {
  if (isInteractive(globals)) return;
  const missing = product === undefined ? "--product <sku-or-id>" : quantity === undefined ? "--quantity <n>" : null;
  if (missing === null) return;
  throw usageError(`Required option '${missing}' not specified.`, "See esimctl orders create --help.");
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

interface Planned {
  product: Product;
  count: number;
  requests: readonly { customer_name: string; customer_email: string; activation_date: string }[];
}

function summary(sheet: Sheet, { product, count, requests }: Planned): string {
  const { sku, name, price_cents, currency } = product;
  const who = requests.map((one) => `${one.customer_name}, ${one.customer_email}, on ${one.activation_date}`);
  return sheet.fields({
    product: `${sku}: ${name}`,
    quantity: String(count),
    price: `${sheet.money(price_cents, currency)} each`,
    total: sheet.money(price_cents * count, currency),
    ...Object.fromEntries(who.map((words, at) => [who.length === 1 ? "traveller" : `traveller ${at + 1}`, words])),
  });
}
