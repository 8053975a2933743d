import { eq } from "drizzle-orm";
import type { ProductId } from "../kernel/brand.ts";
import { isoTime } from "../kernel/clock.ts";
import { notFound } from "../kernel/problem.ts";
import { findByKey } from "../store/rows.ts";
import { remembered } from "../store/run-memory.ts";
import type { Row } from "../store/schema/tables.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";

/** A product as the list shows it (contract: Product). */
export function toProduct(row: Row<"products">) {
  const { id, sku, name, description, region, coverage, data_amount_mb, validity_days } = row;
  const { price_cents, currency, type, status, product_type, delivery_method } = row;
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
export type SoldProduct = Pick<
  Row<"products">,
  "id" | "sku" | "name" | "price_cents" | "currency" | "status" | "product_type" | "delivery_method" | "supplier"
>;

const sold = statement((db, t, slot: Slots<{ id: string }>) => {
  const { id, sku, name, price_cents, currency, status, product_type, delivery_method, supplier } = t.products;
  return db
    .select({ id, sku, name, price_cents, currency, status, product_type, delivery_method, supplier })
    .from(t.products)
    .where(eq(id, slot.id));
});

/** The product that an order names, or null. Callers may pass any text. */
export function findSoldProduct(q: Read, id: string): Promise<SoldProduct | null> {
  return remembered(q, `product ${id}`, async () => first(await sold(q, { id })));
}

/** The product's row by id, or null. */
function findProduct(q: Read, id: string): Promise<Row<"products"> | null> {
  // Callers may pass any text; only the id of a product finds one.
  return findByKey(q, "products", { id: id as ProductId });
}

/** The product's row by sku, or null. */
export async function findProductBySku(q: Read, sku: string): Promise<Row<"products"> | null> {
  return first(await bySku(q, { sku }));
}

/** One product's details (contract: GET /products/{id}). Throws `not_found`. */
export async function showProduct(q: Read, id: string): Promise<ProductDetail> {
  const row = await findProduct(q, id);
  if (row === null) throw notFound("product");
  return toProductDetail(row);
}
