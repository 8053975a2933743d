import { eq } from "drizzle-orm";
import type { ProductId } from "../kernel/brand.ts";
import { isoTime } from "../kernel/clock.ts";
import { notFound } from "../kernel/problem.ts";
import { findByKey, isListed, listOf } from "../store/rows.ts";
import { isRemembered, remember, remembered } from "../store/run-memory.ts";
import type { Row, Tables } from "../store/schema/tables.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";

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

const soldColumns = ({ products }: Tables) => {
  const { id, sku, name, price_cents, currency, status, product_type, delivery_method, supplier } = products;
  return { id, sku, name, price_cents, currency, status, product_type, delivery_method, supplier };
};

const sold = statement((db, t, slot: Slots<{ id: string }>) =>
  db.select(soldColumns(t)).from(t.products).where(eq(t.products.id, slot.id)),
);

const soldOf = statement((db, t, slot: Slots<{ ids: string }>) =>
  db
    .select(soldColumns(t))
    .from(t.products)
    .where(isListed(t, t.products.id, slot.ids)),
);

/** Looks up the products that commands of a run may sell. Callers may pass any texts. */
export async function lookAtProducts(tx: Tx, ids: readonly string[]): Promise<void> {
  const unknown = [...new Set(ids)].filter((id) => !isRemembered(tx, soldName(id)));
  if (unknown.length === 0) return;
  for (const product of await soldOf(tx, { ids: listOf(unknown) })) remember(tx, soldName(product.id), product);
}

function soldName(id: string): string {
  return `product ${id}`;
}

/** The product that an order names, or null. Callers may pass any text. */
export function findSoldProduct(q: Read, id: string): Promise<SoldProduct | null> {
  return remembered(q, soldName(id), async () => first(await sold(q, { id })));
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
