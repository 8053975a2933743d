import { eq } from "drizzle-orm";
import type { ProductId } from "../kernel/brand.ts";
import { isoTime } from "../kernel/clock.ts";
import { notFound } from "../kernel/problem.ts";
import type { PricedProduct } from "../prices/price.ts";
import { pricesByProduct } from "../prices/unit-price.ts";
import { loader } from "../store/batch-context.ts";
import { findByKey } from "../store/rows.ts";
import type { Row, Tables } from "../store/schema/tables.ts";
import { first, isListed, listOf, type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";

/** A product as the list shows it (contract: Product). Only top-ups say what they are for. */
export function toProduct(row: Row<"products">) {
  const { id, sku, name, description, region, coverage, data_amount_mb, validity_days } = row;
  const { price_cents, currency, type, status, product_type, delivery_method, purpose } = row;
  return {
    id,
    sku,
    name,
    description,
    region,
    coverage,
    data_amount_mb,
    validity_days,
    price_cents,
    currency,
    type,
    status,
    product_type,
    delivery_method,
    created_at: isoTime(row.created_at),
    updated_at: isoTime(row.updated_at),
    ...(purpose === "topup" ? { purpose } : {}),
  };
}

/** A product with all its details (contract: ProductDetail). */
export function toProductDetail(row: Row<"products">) {
  const { features, activation_policy, network_type, compatible_devices } = row;
  return { ...toProduct(row), features, activation_policy, network_type, compatible_devices };
}

export type Product = ReturnType<typeof toProduct>;
export type ProductDetail = ReturnType<typeof toProductDetail>;

const bySku = statement((db, t, slot: Slots<{ sku: string }>) =>
  db.select().from(t.products).where(eq(t.products.sku, slot.sku)),
);

/** A product as orders look at it. */
export type SoldProduct = PricedProduct &
  Pick<
    Row<"products">,
    "sku" | "name" | "status" | "product_type" | "delivery_method" | "supplier" | "sourced" | "purpose"
  >;

const soldColumns = ({ products }: Tables) => {
  const { id, sku, name, price_cents, currency, status, product_type, delivery_method, supplier, sourced } = products;
  const { region_key, cost, cost_currency, purpose } = products;
  const delivered = { product_type, delivery_method, supplier, sourced, purpose };
  return { id, sku, name, price_cents, currency, status, ...delivered, region_key, cost, cost_currency };
};

const sold = statement((db, t, slot: Slots<{ id: string }>) =>
  db.select(soldColumns(t)).from(t.products).where(eq(t.products.id, slot.id)),
);

const soldOf = statement((db, t, slot: Slots<{ ids: string }>, dialect) =>
  db
    .select(soldColumns(t))
    .from(t.products)
    .where(isListed(dialect, t.products.id, slot.ids)),
);

/** The products that orders name, or null. Callers may pass any text. */
export const soldProducts = loader<string, SoldProduct | null>({
  async loadMany(q, ids) {
    const found = new Map<string, SoldProduct>((await soldOf(q, { ids: listOf(ids) })).map((row) => [row.id, row]));
    return ids.map((id) => found.get(id) ?? null);
  },
  loadOne: async (q, id) => first(await sold(q, { id })),
});

/** The product's row by id, or null. */
function findProduct(q: Read, id: string): Promise<Row<"products"> | null> {
  // Callers may pass any text; only the id of a product finds one.
  return findByKey(q, "products", { id: id as ProductId });
}

/** The product's row by sku, or null. */
export async function findProductBySku(q: Read, sku: string): Promise<Row<"products"> | null> {
  return first(await bySku(q, { sku }));
}

/** One product's details at the catalog's price. Throws `not_found`. */
export function showProduct(q: Read, id: string): Promise<ProductDetail> {
  return showProductAt(q, { id, priceList: null });
}

/** One product's details at the price of a list (contract: GET /products/{id}). Throws `not_found`. */
export async function showProductAt(
  q: Read,
  { id, priceList }: { id: string; priceList: string | null },
): Promise<ProductDetail> {
  const row = await findProduct(q, id);
  if (row === null) throw notFound("product");
  if (priceList === null) return toProductDetail(row);
  const { unit_price_cents: price_cents } = await pricesByProduct(q, priceList)(row, 1);
  return toProductDetail({ ...row, price_cents });
}
