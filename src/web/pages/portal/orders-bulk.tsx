import { findProductBySku } from "../../../core/catalog/product.ts";
import { payloadHash } from "../../../core/kernel/canonical.ts";
import { Problem } from "../../../core/kernel/problem.ts";
import { refusalWords } from "../../../core/kernel/refusal-words.ts";
import { createOrder, type NewOrder } from "../../../core/orders/create.ts";
import { type QuotedItem, type QuotedTotal, quoteOrders } from "../../../core/orders/quote-bulk.ts";
import type { Read } from "../../../core/store/store.ts";
import { itemProblem } from "../../../daemon/plugins/refusals.ts";
import { bodyReader } from "../../../daemon/plugins/validation.ts";
import { BulkOrders } from "../../../daemon/schemas/order.ts";
import { type FileRow, MOST_ROWS } from "../../parts/csv-file.ts";
import { fileItemsPage } from "../../parts/file-page.tsx";
import { type Cell, moneyWords } from "../../parts/words.ts";
import { portalPage } from "../../session/page.ts";
import type { PortalVisit } from "../../session/visit.ts";

/** The columns of `esimctl orders bulk`, so that one file serves both. */
const columns = [
  "external_order_id",
  "sku",
  "product_id",
  "quantity",
  "customer_email",
  "customer_name",
  "customer_phone",
] as const;
type Row = FileRow<(typeof columns)[number]>;

const readOrders = bodyReader(BulkOrders);

type Item = ReturnType<typeof readOrders>["orders"][number];

/** An order as the API takes it. The hash is that of the same order by API or terminal: they place it once together. */
interface Readable {
  item: Item;
  hash: string;
  /** Its lines in words. */
  what: string;
}

/** An order that may be placed, at no more than the price that was shown. */
interface Good extends Readable {
  total: number;
}

/** An order of the file and what would become of it, or what became of it. */
interface Line {
  order: string;
  what: string;
  total: Cell;
  outcome: string;
}

async function skusOf(q: Read, skus: readonly string[]): Promise<[sku: string, id: string][]> {
  const found: [string, string][] = [];
  for (const sku of skus) {
    const product = await findProductBySku(q, sku);
    if (product !== null) found.push([sku, product.id]);
  }
  return found;
}

/** The order of these rows, its shape checked. Throws `validation`. */
function itemOf(id: string, rows: readonly Row[], products: ReadonlyMap<string, string>) {
  const fault = rows.find((row) => row.fault !== null);
  if (fault?.fault) throw new Problem("validation", `Line ${fault.line} ${fault.fault}.`);
  const { customer_email: email = "", customer_name: name = "", customer_phone: phone = "" } = rows[0]?.values ?? {};
  const others = rows.find(({ values }) => values.customer_email.toLowerCase() !== email.toLowerCase());
  if (others !== undefined) throw new Problem("validation", `Line ${others.line} names another customer.`);
  const line_items = rows.map(({ line, values: { product_id, sku, quantity } }) => {
    const product = product_id || products.get(sku);
    if (product === undefined) {
      throw new Problem("validation", sku === "" ? `Line ${line} names no sku.` : `No product is called ${sku}.`);
    }
    return { product_id: product, quantity: /^\d{1,5}$/.test(quantity) ? Number(quantity) : quantity };
  });
  const sent = { external_order_id: id, line_items, customer: { email, name, ...(phone === "" ? {} : { phone }) } };
  const [item] = readOrders({ orders: [sent] }).orders;
  if (item === undefined) throw new Error("an order was read, and is not there");
  return { item, hash: payloadHash(sent) };
}

/** What is wrong with an order, in the words of its fields. */
function wordsOf({ message, errors = {} }: Pick<Problem, "message" | "errors">): string {
  const own = Object.entries(errors).map(([path, words]) => [path.replace(/^orders\.0\./, ""), words]);
  return refusalWords({ message: message.replace("orders.0.", ""), errors: Object.fromEntries(own) });
}

/** The orders of the file, in the sequence of their first rows; what cannot be read is a line already. */
async function ordersIn({ store }: PortalVisit, rows: readonly Row[]): Promise<(Readable | Line)[]> {
  const skus = new Set(rows.map(({ values }) => values.sku).filter((sku) => sku !== ""));
  const products = new Map(await store.read(skusOf, [...skus]));
  const byOrder = Map.groupBy(rows, ({ values }) => values.external_order_id.normalize("NFC"));
  return [...byOrder].map(([id, own]) => {
    const what = own.map(({ values }) => `${values.quantity} × ${values.sku || values.product_id}`).join(", ");
    try {
      return { ...itemOf(id, own, products), what };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return { order: id, what, total: null, outcome: `refused: ${wordsOf(error)}` };
    }
  });
}

function askedOf({ owner }: PortalVisit, { external_order_id: externalOrderId, line_items: lines }: Item) {
  return { ...owner, lines, activationRequests: [], metadata: {}, credential: null, externalOrderId };
}

async function check(visit: PortalVisit, rows: readonly Row[]) {
  const { store, owner } = visit;
  const read = await ordersIn(visit, rows);
  const readable = read.filter((one) => "item" in one);
  const items = readable.map(({ item, hash }) => ({ ...askedOf(visit, item), payloadHash: hash }));
  const { results, totals } = await store.read(quoteOrders, { ...owner, credential: null, items });
  const good: Good[] = [];
  const quoted = results.values();
  const lines = read.map((one): Line => {
    if (!("item" in one)) return one;
    const { value: result } = quoted.next();
    if (result === undefined) throw new Error("an order has no quote");
    if (result.status === "success") good.push({ ...one, total: result.total_price_cents ?? 0 });
    return lineOf(one, result);
  });
  const above = totals.map((total) => <p>{totalWords(total, owner.environment === "sandbox")}</p>);
  return { good, lines, above };
}

type Outcome = Pick<QuotedItem, "total_price_cents" | "currency" | "replayed" | "error">;

function lineOf({ item, what }: Readable, { total_price_cents: money, currency, replayed, error }: Outcome): Line {
  const total = money === null || currency === null ? null : { money, currency };
  const outcome = error ? `refused: ${error.message}` : replayed ? "placed before, nothing is charged" : "placed";
  return { order: item.external_order_id, what, total, outcome };
}

/** Places what was shown; its own ID is its key, so that the form sent twice places it once. */
async function placeOne(visit: PortalVisit, one: Good): Promise<Line> {
  const { item, hash, total } = one;
  const { email, name, phone = null } = item.customer;
  const asked: Omit<NewOrder, "actor"> = {
    ...askedOf(visit, item),
    key: { space: "bulk", value: item.external_order_id },
    payloadHash: hash,
    maxTotal: total,
    customer: { email, name, phone },
  };
  try {
    const { order, replayed } = await visit.write(createOrder, asked);
    return lineOf(one, { ...order, replayed });
  } catch (error) {
    const later = "This order could not be placed; send the file again.";
    const { slug: code, message } = itemProblem(error, visit.request, later);
    return lineOf(one, { total_price_cents: null, currency: null, replayed: false, error: { code, message } });
  }
}

function totalWords(
  { total_price_cents: total, balance_cents, shortfall_cents, currency }: QuotedTotal,
  free: boolean,
) {
  const [all, held, missing] = [total, balance_cents, shortfall_cents].map((cents) => moneyWords(cents, currency));
  const paid = free ? "the sandbox charges nothing." : `the wallet holds ${held}.`;
  return `In all ${all}; ${paid}${shortfall_cents > 0 ? ` ${missing} are missing.` : ""}`;
}

const page = fileItemsPage({
  path: "/orders/bulk",
  title: "Orders from a file",
  about: (
    <p>
      A CSV file with at most {MOST_ROWS} rows. Rows with the same external_order_id are lines of one order; the same
      file again places nothing twice. What each order costs is shown before anything is placed.
    </p>
  ),
  hint: "external_order_id, sku (or product_id), quantity, customer_email, customer_name; customer_phone.",
  button: "Show the prices",
  all: ["/orders", "All orders"],
  words: { item: "order", act: "Place", done: "placed" },
  columns,
  check,
  one: placeOne,
  isRefused: ({ outcome }: Line) => outcome.startsWith("refused"),
  table: [
    { title: "Your ID", cell: (one) => one.order },
    { title: "What", cell: (one) => one.what },
    { title: "Total", right: true, cell: (one) => one.total },
    { title: "Then", cell: (one) => one.outcome },
  ],
});

export const bulkOrderPages = [portalPage({ ...page, needs: "orders.write" })];
