import { type SoldProduct, soldProducts } from "../catalog/product.ts";
import type { ProductId } from "../kernel/brand.ts";
import type { Owner } from "../kernel/owner.ts";
import { invalid, Problem } from "../kernel/problem.ts";
import type { Read } from "../store/store.ts";
import { insufficientBalance, spendableIn } from "../wallet/spendable.ts";
import { type Ahead, assessOrder } from "./assess.ts";
import { assertSamePayload, orderToReplay } from "./idempotency.ts";
import { checkMetadata } from "./metadata.ts";
import { requireOrder } from "./order.ts";
import type { FindProduct } from "./price-lines.ts";
import { type AskedQuote, type QuotedLine, quoteLines, shortfall } from "./quote.ts";

/** One order of a bulk quote: the item that would create it, its shape checked. */
export interface QuoteItem extends Omit<AskedQuote, keyof Owner> {
  externalOrderId: string;
  /** The hash of the whole item as received, see kernel/canonical. */
  payloadHash: string;
}

/** How one order of a bulk request would end. */
export interface QuotedItem {
  external_order_id: string;
  status: "success" | "failed";
  /** Null: the order has no price; it would be refused for another reason than money. */
  total_price_cents: number | null;
  currency: string | null;
  /** Whether the order was placed before, so that nothing would be charged. */
  replayed: boolean;
  /** Empty where nothing would be ordered. */
  line_items: QuotedLine[];
  error?: { code: string; message: string };
}

/** What all orders of a currency come to that are refused for no other reason than money. */
export interface QuotedTotal {
  currency: string;
  total_price_cents: number;
  balance_cents: number;
  shortfall_cents: number;
}

/** What the orders before one in a request would take, none of it written. */
interface Taken {
  ahead: Ahead;
  /** What counts against the caps of the credential, by currency. */
  caps: Map<string, number>;
  /** Totals by currency, also of orders that the wallet cannot pay. */
  wanted: Map<string, bigint>;
  money: Map<string, number>;
  stock: Map<ProductId, number>;
  /** Orders by their key. */
  orders: Map<string, { payload_hash: string; price: Price }>;
}

interface Price {
  total: number;
  currency: string;
}

type OwnedItem = QuoteItem & Owner;

/**
 * Assesses orders as a bulk request would place them at this moment: in their sequence, each with what those before it
 * leave of wallet and stock, on one snapshot. It reads only and reserves nothing.
 */
export async function quoteOrders(
  q: Read,
  { items, ...owner }: Owner & Pick<AskedQuote, "credential"> & { items: QuoteItem[] },
): Promise<{ results: QuotedItem[]; totals: QuotedTotal[] }> {
  const caps = new Map<string, number>();
  const ahead = { units: 0, spent: caps, findProduct: findOnce() };
  const taken: Taken = { ahead, caps, wanted: new Map(), money: new Map(), stock: new Map(), orders: new Map() };
  const results: QuotedItem[] = [];
  for (const item of items) {
    try {
      results.push(await quoteItem(q, { ...item, ...owner }, taken));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      results.push(refused(item, error, null));
    }
  }
  return { results, totals: await totalsOf(q, owner, taken) };
}

/** Orders of one request name the same few products: each is read once. */
function findOnce(): FindProduct {
  const known = new Map<string, SoldProduct | null>();
  return async (q, id) => {
    const found = known.get(id);
    if (found !== undefined) return found;
    const product = await soldProducts.get(q, id);
    known.set(id, product);
    return product;
  };
}

async function quoteItem(q: Read, asked: OwnedItem, taken: Taken): Promise<QuotedItem> {
  checkMetadata(asked.metadata);
  const { partnerId: partner_id, environment, externalOrderId, payloadHash } = asked;
  const before = await placedBefore(q, asked, taken);
  if (before !== null) return success(asked, before, { replayed: true, line_items: [] });
  const { priced } = await assessOrder(q, asked, taken.ahead);
  const { total, currency, quantity } = priced;
  taken.wanted.set(currency, (taken.wanted.get(currency) ?? 0n) + BigInt(total));
  const price = { total, currency };
  if (environment === "production") {
    const spent = taken.money.get(currency) ?? 0;
    const { balance, credit } = await spendableIn(q, { partner_id, currency });
    // Orders draw on credit what the wallet lacks.
    const left = {
      balance: Math.max(0, balance - spent),
      credit: credit === null ? null : credit - Math.max(0, spent - balance),
    };
    if (total > left.balance + (left.credit ?? 0)) {
      return refused(asked, insufficientBalance({ currency, amount: total }, left), price);
    }
    taken.money.set(currency, spent + total);
  } else {
    taken.ahead.units += quantity;
  }
  taken.caps.set(currency, (taken.caps.get(currency) ?? 0) + total);
  const { line_items, takes } = await quoteLines(q, environment, priced, taken.stock);
  for (const { productId, quantity: units } of takes) {
    taken.stock.set(productId, (taken.stock.get(productId) ?? 0) + units);
  }
  taken.orders.set(externalOrderId, { payload_hash: payloadHash, price });
  return success(asked, price, { replayed: false, line_items });
}

/** The price of the order that has its key, of this request or an earlier one. Throws `idempotency_conflict`. */
async function placedBefore(q: Read, asked: OwnedItem, { orders }: Taken): Promise<Price | null> {
  const { partnerId: partner_id, environment, externalOrderId: key, payloadHash } = asked;
  const here = orders.get(key);
  if (here !== undefined) {
    assertSamePayload("bulk", here.payload_hash, payloadHash);
    return here.price;
  }
  const id = await orderToReplay(q, { key: { partner_id, environment, space: "bulk", key }, payloadHash });
  if (id === null) return null;
  const { total_cents: total, currency } = await requireOrder(q, id);
  return { total, currency };
}

type Quoted = Pick<QuotedItem, "replayed" | "line_items">;

function success({ externalOrderId }: QuoteItem, { total, currency }: Price, quoted: Quoted): QuotedItem {
  return {
    external_order_id: externalOrderId,
    status: "success",
    total_price_cents: total,
    currency,
    ...quoted,
  };
}

function refused({ externalOrderId }: QuoteItem, { slug, message }: Problem, price: Price | null): QuotedItem {
  return {
    external_order_id: externalOrderId,
    status: "failed",
    total_price_cents: price?.total ?? null,
    currency: price?.currency ?? null,
    replayed: false,
    line_items: [],
    error: { code: slug, message },
  };
}

async function totalsOf(q: Read, { partnerId, environment }: Owner, { wanted }: Taken): Promise<QuotedTotal[]> {
  const totals: QuotedTotal[] = [];
  for (const [currency, sum] of [...wanted].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const total_price_cents = Number(sum);
    if (!Number.isSafeInteger(total_price_cents)) {
      throw invalid({ orders: ["come to a total too large to be counted exactly"] });
    }
    const { balance: balance_cents, credit } = await spendableIn(q, { partner_id: partnerId, currency });
    const shortfall_cents = shortfall(environment, total_price_cents, balance_cents + (credit ?? 0));
    totals.push({ currency, total_price_cents, balance_cents, shortfall_cents });
  }
  return totals;
}
