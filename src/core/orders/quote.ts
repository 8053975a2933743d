import { shortages } from "../esims/stock.ts";
import type { MinorUnits, ProductId } from "../kernel/brand.ts";
import type { Environment } from "../kernel/environment.ts";
import type { Read } from "../store/store.ts";
import { spendableIn } from "../wallet/spendable.ts";
import { isScheduled } from "./activation-requests.ts";
import { type AskedOrder, assessOrder } from "./assess.ts";
import { checkMetadata } from "./metadata.ts";
import type { PricedOrder } from "./price-lines.ts";
import { needsOfNew } from "./reserve.ts";

/**
 * When a line is delivered: at once, on the days of its activation requests, by post, or after a review, since the
 * stock is short.
 */
export const deliveryKinds = ["now", "scheduled", "shipping", "review"] as const;
type DeliveryKind = (typeof deliveryKinds)[number];

/** An order to be quoted: the body that would create it, its shape checked. */
export interface AskedQuote extends AskedOrder {
  metadata: Record<string, unknown>;
}

/** A line of a quote. */
export interface QuotedLine {
  product_id: ProductId;
  product_sku: string;
  product_name: string;
  quantity: number;
  unit_price_cents: number;
  subtotal_cents: number;
  delivery: DeliveryKind;
}

/** What an order would cost, and when it would be delivered. */
export interface Quote {
  line_items: QuotedLine[];
  quantity: number;
  total_price_cents: MinorUnits;
  currency: string;
  balance_cents: number;
  /** What the wallet lacks; 0 in the sandbox, which charges nothing. */
  shortfall_cents: number;
}

/**
 * Assesses an order as `createOrder` would at this moment, on one snapshot. It reads only and reserves nothing. Throws
 * what `assessOrder` throws, and `validation` for metadata; too little money is no refusal.
 */
export async function quoteOrder(q: Read, asked: AskedQuote): Promise<Quote> {
  checkMetadata(asked.metadata);
  const { priced } = await assessOrder(q, asked);
  const { total, currency, quantity } = priced;
  const { line_items } = await quoteLines(q, asked.environment, priced, new Map());
  const { balance: balance_cents, credit } = await spendableIn(q, { partner_id: asked.partnerId, currency });
  const shortfall_cents = shortfall(asked.environment, total, balance_cents + (credit ?? 0));
  return { line_items, quantity, total_price_cents: total, currency, balance_cents, shortfall_cents };
}

/** What a wallet lacks to pay `total`, with what it can draw on credit; the sandbox charges nothing. */
export function shortfall(environment: Environment, total: number, balance: number): number {
  return environment === "sandbox" ? 0 : Math.max(0, total - balance);
}

/**
 * The lines of an order with their delivery, and the stock that the order takes. All its stock is reserved or none:
 * with one product short, all lines from stock wait. `held` is free stock that orders before it take.
 */
export async function quoteLines(
  q: Read,
  environment: Environment,
  { lines }: PricedOrder,
  held: ReadonlyMap<ProductId, number>,
): Promise<{ line_items: QuotedLine[]; takes: { productId: ProductId; quantity: number }[] }> {
  const needs = needsOfNew(environment, lines);
  const short = (await shortages(q, needs, held)).length > 0;
  const line_items = lines.map(({ product, price, quantity }) => ({
    product_id: product.id,
    product_sku: product.sku,
    product_name: product.name,
    quantity,
    unit_price_cents: price.unit_price_cents,
    // Part of a total that was counted exactly.
    subtotal_cents: price.unit_price_cents * quantity,
    delivery: deliveryOf(product.delivery_method, short),
  }));
  return { line_items, takes: short ? [] : needs };
}

function deliveryOf(method: string, short: boolean): DeliveryKind {
  if (method === "shipping") return "shipping";
  if (isScheduled(method)) return "scheduled";
  return method === "stock" && short ? "review" : "now";
}
