import type { ProductId } from "../kernel/brand.ts";
import type { Checked } from "../kernel/checked.ts";
import { dateFault } from "../kernel/dated.ts";
import { parseMoney } from "../kernel/money.ts";
import { type FieldErrors, Problem } from "../kernel/problem.ts";
import { regionKey } from "../kernel/search-keys.ts";

/** The fields of a rule, and the columns of a file of them. */
export const ruleFields = ["sku", "region", "price", "markup", "min_quantity", "from", "to"] as const;

/** A rule as it is typed or written in a file; what is left out or empty is not given. */
export type TypedRule = Partial<Record<(typeof ruleFields)[number], string | undefined>>;

/** What a rule is about, and when it holds: another one of the same scope replaces it. */
export interface RuleScope {
  product: RuleProduct | null;
  region: string | null;
  min_quantity: number;
  from_day: string | null;
  to_day: string | null;
}

/** A rule that can be stored: of the pairs product and region, price and markup, it has one each. */
export interface RuleInput extends RuleScope {
  price_cents: number | null;
  /** Hundredths of a percent. */
  markup_points: number | null;
}

/** A product as far as rules name it. */
export interface RuleProduct {
  id: ProductId;
  sku: string;
  currency: string;
}

/** As much as a line of an order has at most: what begins later never holds. */
const MOST_UNITS = 10_000;

/** More than a hundred times the cost is probably a typo. */
const MOST_MARKUP = 10_000;

/** Checks a rule and reads its amounts; names every bad field in words. A price is in its product's currency. */
export function checkRule(
  typed: TypedRule,
  find: (sku: string) => RuleProduct | null,
): Checked<RuleInput, FieldErrors> {
  const errors: FieldErrors = {};
  const given = (name: keyof TypedRule) => typed[name]?.trim() || null;
  const { sku, region, price, markup } = {
    sku: given("sku"),
    region: given("region"),
    price: given("price"),
    markup: given("markup"),
  };
  if ((sku === null) === (region === null)) errors.sku = ["or region is required, and not both"];
  if ((price === null) === (markup === null)) errors.price = ["or markup is required, and not both"];
  const product = sku === null ? null : find(sku);
  if (sku !== null && product === null) errors.sku ??= [`is not a product of the catalog: "${sku}"`];
  if (region !== null && region.length > 100) errors.region = ["must be at most 100 characters"];
  if (region !== null && price !== null) errors.price ??= ["is for one SKU; a region has a markup on the cost"];
  const rule: RuleInput = {
    product,
    region,
    price_cents: price === null || product === null ? null : priceIn(price, product, errors),
    markup_points: markup === null ? null : pointsIn(markup, errors),
    min_quantity: quantityIn(given("min_quantity"), errors),
    from_day: dayIn("from", given("from"), errors),
    to_day: dayIn("to", given("to"), errors),
  };
  const { from_day, to_day } = rule;
  if (from_day !== null && to_day !== null && to_day <= from_day) {
    errors.to ??= ["must be after from: it is the first day on which the price no longer holds"];
  }
  return Object.keys(errors).length === 0 ? { ok: rule } : { problems: errors };
}

/** Two scopes are the same when these are equal. */
export function scopeMark({ product, region, min_quantity, from_day, to_day }: RuleScope): string {
  const about = product === null ? ["region", regionKey(region ?? "")] : ["product", product.id];
  return JSON.stringify([...about, min_quantity, from_day, to_day]);
}

/** A markup as it is shown: 3550 is 35.5. */
export function markupOf(points: number): number {
  return points / 100;
}

function priceIn(text: string, { currency }: RuleProduct, errors: FieldErrors): number | null {
  try {
    return parseMoney(text, currency, "price");
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    Object.assign(errors, error.errors);
    return null;
  }
}

function pointsIn(text: string, errors: FieldErrors): number | null {
  const [, whole = "", fraction = ""] = /^(\d{1,5})(?:\.(\d{1,2}))?$/.exec(text) ?? [];
  const points = Number(whole + fraction.padEnd(2, "0"));
  if (whole !== "" && points <= MOST_MARKUP * 100) return points;
  errors.markup = [`must be a percentage from 0 to ${MOST_MARKUP} with at most 2 decimals, not "${text}"`];
  return null;
}

function quantityIn(text: string | null, errors: FieldErrors): number {
  if (text === null) return 1;
  const quantity = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (quantity >= 1 && quantity <= MOST_UNITS) return quantity;
  errors.min_quantity = [`must be a whole number from 1 to ${MOST_UNITS}, not "${text}"`];
  return 1;
}

function dayIn(name: "from" | "to", text: string | null, errors: FieldErrors): string | null {
  const fault = text === null ? null : dateFault(text);
  if (fault === null) return text;
  errors[name] = [fault];
  return null;
}
