import { eq } from "drizzle-orm";
import { recordAudit } from "../audit/record.ts";
import type { ProductId } from "../kernel/brand.ts";
import { payloadHash } from "../kernel/canonical.ts";
import { counted } from "../kernel/counted.ts";
import { invalid, notFound } from "../kernel/problem.ts";
import type { Row } from "../store/schema/tables.ts";
import { insertRow, type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";
import { findProductBySku, type ProductDetail, toProductDetail } from "./product.ts";
import { checkProduct, type ProductInput } from "./product-input.ts";

export type ProductOutcome = "imported" | "updated" | "duplicate";

const overwrite = statement((db, t, slot: Slots<ProductInput & { now: number }>) =>
  db
    .update(t.products)
    .set({
      name: slot.name,
      description: slot.description,
      region: slot.region,
      coverage: slot.coverage,
      data_amount_mb: slot.data_amount_mb,
      validity_days: slot.validity_days,
      price_cents: slot.price_cents,
      currency: slot.currency,
      type: slot.type,
      status: slot.status,
      product_type: slot.product_type,
      delivery_method: slot.delivery_method,
      supplier: slot.supplier,
      features: slot.features,
      activation_policy: slot.activation_policy,
      network_type: slot.network_type,
      compatible_devices: slot.compatible_devices,
      updated_at: slot.now,
    })
    .where(eq(t.products.sku, slot.sku)),
);

/** Creates or updates products by sku, all in one transaction; one that is there unchanged is a duplicate. */
export async function importProducts(
  tx: Tx,
  input: { products: ProductInput[]; actor: string },
): Promise<ProductOutcome[]> {
  const outcomes: ProductOutcome[] = [];
  for (const product of input.products) outcomes.push(await upsert(tx, product));
  if (outcomes.some((outcome) => outcome !== "duplicate")) await tx.touch();
  await recordAudit(tx, {
    actor: input.actor,
    action: "products.import",
    targetKind: "catalog",
    targetId: "products",
    note: counted(input.products.length, "row"),
  });
  return outcomes;
}

async function upsert(tx: Tx, product: ProductInput): Promise<ProductOutcome> {
  const known = await findProductBySku(tx, product.sku);
  if (known === null) {
    // An id of ours, made for a product.
    const id = tx.ids.uuid(tx.now) as ProductId;
    await insertRow(tx, "products", { id, ...product, created_at: tx.now, updated_at: tx.now });
    await ensurePool(tx, id);
    return "imported";
  }
  if (payloadHash(inputOf(known)) === payloadHash(product)) return "duplicate";
  await overwrite(tx, { ...product, now: tx.now });
  return "updated";
}

async function ensurePool(tx: Tx, productId: ProductId): Promise<void> {
  await insertRow(tx, "stockPools", { product_id: productId, available: 0 });
}

function inputOf(row: Row<"products">): ProductInput {
  const { id, created_at, updated_at, ...input } = row;
  return input;
}

/** What the operator may change about a product that is on sale. */
export interface ProductChange {
  sku: string;
  price_cents?: number;
  status?: string;
  actor: string;
}

/** Changes price or status of one product; orders already placed keep theirs. Throws `not_found`, `validation`. */
export async function updateProduct(tx: Tx, input: ProductChange): Promise<ProductDetail> {
  const { sku, actor, ...change } = input;
  const row = await findProductBySku(tx, sku);
  if (row === null) throw notFound(`product: ${sku}`);
  const checked = checkProduct({ ...inputOf(row), ...change });
  if (!checked.ok) throw invalid(checked.errors);
  await overwrite(tx, { ...checked.product, now: tx.now });
  const fields = Object.keys(change);
  await recordAudit(tx, { actor, action: "products.update", targetKind: "product", targetId: row.id, fields });
  await tx.touch();
  return toProductDetail((await findProductBySku(tx, sku)) ?? row);
}
