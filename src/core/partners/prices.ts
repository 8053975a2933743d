import { matching } from "../catalog/list.ts";
import { isoTime } from "../kernel/clock.ts";
import { endPriceRule } from "../prices/end-rule.ts";
import { requirePriceList } from "../prices/lists.ts";
import {
  type AskedRule,
  type AskedScope,
  checkedRule,
  removePriceRule,
  requireRule,
  setPriceRule,
} from "../prices/set-rule.ts";
import { type RuleInList, showPriceList } from "../prices/show.ts";
import { pricesByProduct, pricesOfList } from "../prices/unit-price.ts";
import type { Read, Tx } from "../store/store.ts";
import { requirePartner } from "./partner.ts";

/** What one unit of a product costs a partner. */
export interface PartnerPrice {
  sku: string;
  name: string;
  price_cents: number;
  currency: string;
  catalog_price_cents: number;
  /** The list whose rule makes the price; null: it is the catalog's. */
  price_list: string | null;
}

/** The prices of a partner: its list with its rules, and every active product by SKU. */
export interface PartnerPrices {
  price_list: string | null;
  rules: RuleInList[];
  products: PartnerPrice[];
}

/** What a partner pays today for one unit of each active product. Throws `not_found`. */
export async function partnerPrices(q: Read, slug: string): Promise<PartnerPrices> {
  const { price_list } = await requirePartner(q, slug);
  const products = await pricesBy(q, price_list);
  return { price_list, rules: price_list === null ? [] : await showPriceList(q, price_list), products };
}

/** The price of a product by the list that a partner has, and by another one. */
export interface PriceMove extends Pick<PartnerPrice, "sku" | "name" | "currency"> {
  now_cents: number;
  then_cents: number;
}

/** The products whose unit would cost a partner another price today by another list; null: by the catalog. */
export async function priceMoves(q: Read, { slug, list }: { slug: string; list: string | null }): Promise<PriceMove[]> {
  const { price_list } = await requirePartner(q, slug);
  if (list !== null) await requirePriceList(q, list);
  return movesBetween(await pricesBy(q, price_list), await pricesBy(q, list));
}

/** What a rule changes for partners with its list: the price of a unit where a line has as many as it begins with. */
export interface RuleMoves {
  quantity: number;
  /** The UTC day: today, or the first on which it holds. */
  day: string;
  moves: PriceMove[];
}

/** Sets a rule, and finds what it changes: to be rehearsed. Throws as `setPriceRule`. */
export async function foreseePriceRule(tx: Tx, asked: AskedRule): Promise<RuleMoves> {
  const { min_quantity, from_day } = await checkedRule(tx, asked.rule);
  return movesBy(tx, { list: asked.list, quantity: min_quantity, day: from_day }, () => setPriceRule(tx, asked));
}

/** The same of a rule that is removed. Throws as `removePriceRule`. */
export async function foreseeRemoval(tx: Tx, asked: AskedScope): Promise<RuleMoves> {
  const { min_quantity, from_day } = (await requireRule(tx, asked.list, asked.rule)).scope;
  return movesBy(tx, { list: asked.list, quantity: min_quantity, day: from_day }, () => removePriceRule(tx, asked));
}

/** The same of a rule that ends, on the first day on which it no longer holds. Throws as `endPriceRule`. */
export async function foreseeEnd(tx: Tx, asked: AskedScope & { end: string }): Promise<RuleMoves> {
  const { min_quantity } = (await requireRule(tx, asked.list, asked.rule)).scope;
  return movesBy(tx, { list: asked.list, quantity: min_quantity, day: asked.end }, () => endPriceRule(tx, asked));
}

/** What a change of a list's rules changes on a day, or today where that is later. */
async function movesBy(
  tx: Tx,
  { list, quantity, day }: { list: string; quantity: number; day: string | null },
  change: () => Promise<unknown>,
): Promise<RuleMoves> {
  const today = isoTime(tx.now).slice(0, 10);
  const at = { quantity, day: day !== null && day > today ? day : today };
  const before = await pricesBy(tx, list, at);
  await change();
  return { ...at, moves: movesBetween(before, await pricesBy(tx, list, at)) };
}

/** The same products by SKU, before and after. */
function movesBetween(before: readonly PartnerPrice[], after: readonly PartnerPrice[]): PriceMove[] {
  return before.flatMap(({ sku, name, currency, price_cents: now_cents }, at) => {
    const then_cents = after[at]?.price_cents ?? now_cents;
    return now_cents === then_cents ? [] : { sku, name, currency, now_cents, then_cents };
  });
}

/** How many units a line has, and the UTC day: today, unless given. */
type PricedAt = Pick<RuleMoves, "quantity"> & { day?: string };

/** What a unit of each active product costs by a list, by SKU; null: by the catalog. */
async function pricesBy(
  q: Read,
  price_list: string | null,
  { quantity, day }: PricedAt = { quantity: 1 },
): Promise<PartnerPrice[]> {
  const price = price_list === null ? pricesByProduct(q, null) : await pricesOfList(q, price_list, day);
  const products: PartnerPrice[] = [];
  for (const row of await matching(q, { status: "active" })) {
    const { sku, name, currency, price_cents: catalog_price_cents } = row;
    const { unit_price_cents: price_cents, price_list: by } = await price(row, quantity);
    products.push({ sku, name, price_cents, currency, catalog_price_cents, price_list: by });
  }
  return products.sort((one, other) => (one.sku < other.sku ? -1 : 1));
}
