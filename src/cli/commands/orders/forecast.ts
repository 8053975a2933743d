import type { OrderBulkQuote, Product, WalletBalances } from "../../client/answers.ts";
import { type Api, apiPath } from "../../client/api.ts";
import { listAll } from "../../client/pages.ts";
import type { Sheet } from "../../output/sheet.ts";
import { batchesOf } from "./batches.ts";

/** An order as far as a forecast needs it. */
interface PlannedOrder {
  external_order_id?: unknown;
  line_items?: unknown;
  activation_requests?: unknown;
}

/** What orders would take, added up, as `--dry-run` prints it. Orders that were placed before count too. */
export interface Forecast {
  orders: number;
  units: number;
  /** What the wallet has and lacks; in the sandbox nothing is charged and `balance_cents` is null. */
  totals: { currency: string; total_cents: number; balance_cents: number | null; shortfall_cents: number }[];
  /** Stocked products; `short` units would be waited for. */
  stock: { sku: string; needed: number; available: number; short: number }[];
  /** Orders that fail, since their products need a traveler for each unit. */
  travelers: { external_order_id: string; sku: string; needed: number; given: number }[];
  /** Orders that fail, since a product is unknown or not on sale. */
  unavailable: { external_order_id: string; product_id: string }[];
  /** At a server: orders that it would refuse for another reason than money. */
  refused?: { external_order_id: string; code: string; message: string }[];
}

/** Products that need a traveler for each unit. */
const SCHEDULED: readonly string[] = ["supplier_email", "eid_push"];
/** Products in one look at the stock. */
const LOOK = 100;

/** Whether each unit of a product needs a traveler. */
export function isScheduled({ delivery_method }: Pick<Product, "delivery_method">): boolean {
  return SCHEDULED.includes(delivery_method);
}

/** The products on sale, by ID. */
export async function productsOnSale(api: Api): Promise<Map<string, Product>> {
  const all = await listAll<Product>(api, apiPath`/products`, {});
  return new Map(all.map((product) => [product.id, product]));
}

/** Adds up what the orders would take of wallet and stock, and what they lack. */
export async function forecast(api: Api, planned: readonly unknown[]): Promise<Forecast> {
  const products = await productsOnSale(api);
  const sum: Sum = { orders: 0, units: 0, totals: new Map(), units_of: new Map(), travelers: [], unavailable: [] };
  for (const order of planned) if (isRecord(order)) addOrder(sum, order, products);
  const { orders, units, travelers, unavailable } = sum;
  const found = { orders, units, stock: await stockOf(api, sum), travelers, unavailable };
  if (api.local !== undefined) return { ...found, totals: await totalsOf(api, sum) };
  return { ...found, ...(await quoted(api, planned)) };
}

/** What a server says to the orders itself: what they cost, without those placed before, and which it would refuse. */
async function quoted(api: Api, planned: readonly unknown[]): Promise<Pick<Forecast, "totals" | "refused">> {
  const sums = new Map<string, { total_cents: number; balance_cents: number }>();
  const refused: NonNullable<Forecast["refused"]> = [];
  for (const batch of batchesOf(planned)) {
    const body = { orders: batch };
    const { body: quote } = await api.request<OrderBulkQuote>("POST", apiPath`/orders/bulk/quote`, { body });
    for (const { external_order_id, error } of quote.results) {
      // Money is added up over the whole file, of which this quote is a part.
      if (error === undefined || error.code === "insufficient_balance") continue;
      refused.push({ external_order_id, ...error });
    }
    for (const { currency, total_price_cents, balance_cents } of quote.totals) {
      const total_cents = (sums.get(currency)?.total_cents ?? 0) + total_price_cents;
      sums.set(currency, { total_cents, balance_cents });
    }
  }
  const charged = api.environment !== "sandbox";
  const totals = [...sums].map(([currency, { total_cents, balance_cents }]) => {
    const shortfall_cents = charged ? Math.max(0, total_cents - balance_cents) : 0;
    return { currency, total_cents, balance_cents: charged ? balance_cents : null, shortfall_cents };
  });
  return { totals, refused };
}

/** Whether some of the orders would fail: for want of money, of travelers or of the product, or as a server says. */
export function someFail({ totals, travelers, unavailable, refused = [] }: Forecast): boolean {
  return (
    travelers.length + unavailable.length + refused.length > 0 ||
    totals.some(({ shortfall_cents }) => shortfall_cents > 0)
  );
}

interface Sum extends Pick<Forecast, "orders" | "units" | "travelers" | "unavailable"> {
  totals: Map<string, number>;
  units_of: Map<string, number>;
}

function addOrder(sum: Sum, order: PlannedOrder, products: ReadonlyMap<string, Product>): void {
  const external_order_id = String(order.external_order_id ?? "");
  sum.orders += 1;
  for (const [product_id, quantity] of unitsOf(order.line_items)) {
    const product = products.get(product_id.toLowerCase());
    if (product === undefined) {
      sum.unavailable.push({ external_order_id, product_id });
      continue;
    }
    const { id, sku, currency, price_cents } = product;
    sum.units += quantity;
    sum.totals.set(currency, (sum.totals.get(currency) ?? 0) + price_cents * quantity);
    if (product.delivery_method === "stock") sum.units_of.set(id, (sum.units_of.get(id) ?? 0) + quantity);
    const given = requestsFor(order.activation_requests, id);
    if (isScheduled(product) && given !== quantity) {
      sum.travelers.push({ external_order_id, sku, needed: quantity, given });
    }
  }
}

/** Units by product over the lines of one order. */
function unitsOf(lines: unknown): Map<string, number> {
  const units = new Map<string, number>();
  for (const line of Array.isArray(lines) ? lines : []) {
    const { product_id, quantity } = isRecord(line) ? line : {};
    if (typeof product_id !== "string" || typeof quantity !== "number") continue;
    units.set(product_id, (units.get(product_id) ?? 0) + quantity);
  }
  return units;
}

function requestsFor(requests: unknown, productId: string): number {
  const listed: unknown[] = Array.isArray(requests) ? requests : [];
  return listed.filter((one) => isRecord(one) && String(one.product_id).toLowerCase() === productId).length;
}

async function totalsOf(api: Api, { totals }: Sum): Promise<Forecast["totals"]> {
  if (totals.size === 0) return [];
  const charged = api.environment !== "sandbox";
  const balances = charged ? (await api.request<WalletBalances>("GET", apiPath`/balance`)).body.balances : [];
  return [...totals].map(([currency, total_cents]) => {
    const held = balances.find((one) => one.currency === currency)?.balance_cents ?? 0;
    const shortfall_cents = charged ? Math.max(0, total_cents - held) : 0;
    return { currency, total_cents, balance_cents: charged ? held : null, shortfall_cents };
  });
}

interface InventoryBody {
  data: { product_id: string; sku: string; available: number | null }[];
}

/** What is in stock of what is needed; the sandbox takes nothing from it. */
async function stockOf(api: Api, { units_of }: Sum): Promise<Forecast["stock"]> {
  if (api.environment === "sandbox") return [];
  const ids = [...units_of.keys()];
  const found: Forecast["stock"] = [];
  for (let at = 0; at < ids.length; at += LOOK) {
    const query = { product_ids: ids.slice(at, at + LOOK).join(",") };
    const { body } = await api.request<InventoryBody>("GET", apiPath`/inventory/status`, { query });
    for (const { product_id, sku, available } of body.data) {
      const needed = units_of.get(product_id) ?? 0;
      if (available !== null) found.push({ sku, needed, available, short: Math.max(0, needed - available) });
    }
  }
  return found;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const MOST_SHOWN = 20;

/** The forecast for people. */
export function forecastText(sheet: Sheet, { totals, stock, travelers, unavailable, refused }: Forecast): string {
  const money = totals.map(({ currency, total_cents, balance_cents, shortfall_cents }) => {
    const total = sheet.money(total_cents, currency);
    if (balance_cents === null) return `${total}; the sandbox charges nothing`;
    const held = `${total} of ${sheet.money(balance_cents, currency)} in the wallet`;
    return shortfall_cents === 0 ? held : sheet.paint.red(`${held}: ${sheet.money(shortfall_cents, currency)} short`);
  });
  const stocked = stock.map(({ sku, needed, available, short }) => {
    const line = `${sku}: ${needed} of ${available} in stock`;
    return short === 0 ? line : sheet.paint.yellow(`${line}: ${short} short, such orders wait for review`);
  });
  const missing = travelers.map(
    ({ external_order_id, sku, needed, given }) =>
      `${external_order_id}: ${sku} needs ${needed} travelers in activation_requests, has ${given}`,
  );
  const gone = unavailable.map(
    ({ external_order_id, product_id }) => `${external_order_id}: ${product_id} is not on sale`,
  );
  const said = refused?.map(({ external_order_id, message }) => `${external_order_id}: ${message}`);
  const failing = said === undefined ? [...shortened(missing), ...shortened(gone)] : shortened(said);
  return [...money, ...stocked, ...failing].join("\n");
}

function shortened(lines: readonly string[]): string[] {
  const left = lines.length - MOST_SHOWN;
  return left > 0 ? [...lines.slice(0, MOST_SHOWN), `… and ${left} more`] : [...lines];
}
