import { type SoldProduct, soldProducts } from "../catalog/product.ts";
import type { MinorUnits } from "../kernel/brand.ts";
import { addMoney, minorUnits, multiplyMoney } from "../kernel/money.ts";
import { type FieldErrors, invalid } from "../kernel/problem.ts";
import { together } from "../kernel/together.ts";
import { pricesByProduct, type UnitPrice } from "../prices/unit-price.ts";
import type { Read } from "../store/store.ts";

/** A product at the price of a line. */
interface Sold {
  product: SoldProduct;
  price: UnitPrice;
}

/** One line, with the product as it is sold at this moment. */
export interface PricedLine extends Sold {
  quantity: number;
}

/** Lines that can be ordered, in one currency, with their exact total. */
export interface PricedOrder {
  lines: [PricedLine, ...PricedLine[]];
  currency: string;
  quantity: number;
  total: MinorUnits;
}

/** Finds a product by the id that an order names. */
export type FindProduct = (q: Read, id: string) => Promise<SoldProduct | null>;

/** What an order asks for of one product. */
interface AskedLine {
  product_id: string;
  quantity: number;
}

/** The products of an order, line by line; null for what the catalog does not have. */
export type FoundProducts = readonly (SoldProduct | null)[];

/** Looks the products of an order up, all at once. */
export function findProducts(
  q: Read,
  asked: readonly AskedLine[],
  find: FindProduct = soldProducts.get,
): Promise<FoundProducts> {
  return together(...asked.map(({ product_id }) => find(q, product_id)));
}

/** The products of an order at the prices of its partner, line by line. */
export function sellLines(
  q: Read,
  asked: readonly AskedLine[],
  { found, priceList }: { found: FoundProducts; priceList: string | null },
): Promise<readonly (Sold | null)[]> {
  const price = pricesByProduct(q, priceList);
  return together(
    ...asked.map(async ({ quantity }, at) => {
      const product = found[at] ?? null;
      return product === null ? null : { product, price: await price(product, quantity) };
    }),
  );
}

/**
 * Adds up the lines of an order by what their units are sold at. Throws `validation` naming each line whose product is
 * unknown, inactive or out of stock, and for lines of different currencies or a total beyond what can be counted
 * exactly.
 */
export function priceLines(asked: readonly AskedLine[], found: readonly (Sold | null)[]): PricedOrder {
  const errors: FieldErrors = {};
  const lines: PricedLine[] = [];
  for (const [index, { quantity }] of asked.entries()) {
    const sold = found[index] ?? null;
    const refusal = refusalOf(sold?.product ?? null);
    if (refusal !== null) errors[`line_items.${index}.product_id`] = [refusal];
    if (sold !== null) lines.push({ ...sold, quantity });
  }
  const [first, ...rest] = lines;
  if (Object.keys(errors).length > 0) throw invalid(errors);
  if (first === undefined) throw invalid({ line_items: ["must have at least 1 item"] });
  const currency = first.product.currency;
  const other = rest.find((line) => line.product.currency !== currency);
  if (other !== undefined) {
    throw invalid({ line_items: [`must all be in one currency, not ${currency} and ${other.product.currency}`] });
  }
  const quantity = lines.reduce((sum, line) => sum + line.quantity, 0);
  return { lines: [first, ...rest], currency, quantity, total: totalOf(lines) };
}

function refusalOf(product: SoldProduct | null): string | null {
  if (product === null) return "is not a product of the catalog";
  if (product.purpose === "topup") return `${product.sku} is a top-up of an eSIM and cannot be ordered`;
  if (product.status === "inactive") return `${product.sku} is inactive and cannot be ordered`;
  if (product.status === "out_of_stock") return `${product.sku} is out of stock`;
  return null;
}

function totalOf(lines: PricedLine[]): MinorUnits {
  let total: MinorUnits | null = minorUnits(0);
  for (const { price, quantity } of lines) {
    const subtotal = multiplyMoney(minorUnits(price.unit_price_cents), quantity);
    total = subtotal === null || total === null ? null : addMoney(total, subtotal);
  }
  if (total === null) throw invalid({ line_items: ["come to a total too large to be counted exactly"] });
  return total;
}
