import { and, eq, isNotNull } from "drizzle-orm";
import { changesOf } from "../audit/changes.ts";
import { recordAudit } from "../audit/record.ts";
import { findProductBySku } from "../catalog/product.ts";
import type { ProductId } from "../kernel/brand.ts";
import { formatCost } from "../kernel/cost.ts";
import { currencyDecimals } from "../kernel/money.ts";
import { type FieldErrors, invalid, notFound, Problem } from "../kernel/problem.ts";
import { findByKey, updateRow } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { isProvider, requireSupplier } from "../suppliers/supplier.ts";

/** A plan of a supplier as which a product can be bought. */
export type SourceRow = Row<"productSources">;

/** A source as people and programs see it. */
export interface Source {
  sku: string;
  supplier: string;
  supplier_sku: string;
  days: number | null;
  priority: number;
  cost: string | null;
  currency: string | null;
  status: SourceRow["status"];
}

const ofProduct = statement((db, t, slot: Slots<{ product_id: ProductId }>) =>
  db.select().from(t.productSources).where(eq(t.productSources.product_id, slot.product_id)),
);

/** What another source at the same supplier is changed in. */
const changing = (slot: Slots<SourceRow>) => ({
  supplier_sku: slot.supplier_sku,
  days: slot.days,
  priority: slot.priority,
  cost: slot.cost,
  currency: slot.currency,
  price_cents: slot.price_cents,
  synced: slot.synced,
  status: slot.status,
  updated_at: slot.updated_at,
});

const change = statement((db, t, slot: Slots<SourceRow>) => {
  const { product_id, supplier, created_at } = slot;
  const target = [t.productSources.product_id, t.productSources.supplier];
  return db
    .insert(t.productSources)
    .values({ product_id, supplier, created_at, ...changing(slot) })
    .onConflictDoUpdate({ target, set: changing(slot) });
});

const drop = statement((db, t, slot: Slots<Pick<SourceRow, "product_id" | "supplier">>) =>
  db
    .delete(t.productSources)
    .where(and(eq(t.productSources.product_id, slot.product_id), eq(t.productSources.supplier, slot.supplier))),
);

/** A product's sources, the one with the lowest priority first. */
export async function sourcesOf(q: Read, product_id: ProductId): Promise<SourceRow[]> {
  const sources = await ofProduct(q, { product_id });
  return sources.sort((one, other) => one.priority - other.priority || (one.supplier < other.supplier ? -1 : 1));
}

async function requireProduct(q: Read, sku: string): Promise<Row<"products">> {
  const product = await findProductBySku(q, sku);
  if (product === null) throw notFound("product", sku);
  return product;
}

/** The sources of a product. Throws `not_found`. */
export async function listSources(q: Read, { sku }: { sku: string }): Promise<Source[]> {
  const product = await requireProduct(q, sku);
  return (await sourcesOf(q, product.id)).map((row) => toSource(sku, row));
}

function toSource(sku: string, row: SourceRow): Source {
  const { supplier, supplier_sku, days, priority, currency, status } = row;
  const cost = row.cost === null ? null : formatCost(row.cost);
  return { sku, supplier, supplier_sku, days, priority, cost, currency, status };
}

/** A source as the operator names it. */
export interface NewSource {
  sku: string;
  supplier: string;
  supplierSku: string;
  priority: number;
  /** For how many days a daily plan is bought. */
  days: number | null;
  /** In 1/10,000 of the currency; null: what the last sync read of the plan. */
  cost: number | null;
  currency: string | null;
}

/**
 * Adds a source to a product, or changes the one that it has at this supplier. Throws `not_found` for the product or
 * the supplier, `validation` for a supplier that sells no single units, and for a product that no supplier delivers.
 */
export async function addSource(tx: Tx, input: NewSource & { actor: string }): Promise<Source> {
  const product = await requireProduct(tx, input.sku);
  const supplier = await requireSupplier(tx, input.supplier);
  if (!isProvider(supplier.adapter)) {
    throw invalid({ supplier: [`must speak a provider's API: ${supplier.name} is reached by ${supplier.adapter}`] });
  }
  if (product.delivery_method !== "supplier_api") {
    throw invalid({ sku: [`is delivered by ${product.delivery_method}: sources are for supplier_api`] });
  }
  const errors = faultsOf(input);
  if (Object.keys(errors).length > 0) throw invalid(errors);
  const sources = await sourcesOf(tx, product.id);
  const before = sources.find((row) => row.supplier === supplier.name);
  // Another plan is another thing: nothing that is known of the one before holds, and no sync keeps it.
  const known = before?.supplier_sku === input.supplierSku && before.days === input.days ? before : null;
  const { cost, currency } = input.cost === null ? await costRead(tx, input, known) : input;
  const row: SourceRow = {
    product_id: product.id,
    supplier: supplier.name,
    supplier_sku: input.supplierSku,
    days: input.days,
    priority: input.priority,
    cost,
    currency,
    price_cents: known?.price_cents ?? null,
    synced: known?.synced ?? false,
    status: "active",
    created_at: before?.created_at ?? tx.now,
    updated_at: tx.now,
  };
  await putSource(tx, row);
  await audited(tx, "sources.add", product, { ...input, note: `${supplier.name}: ${input.supplierSku}` });
  return toSource(product.sku, row);
}

const readCosts = statement((db, t, slot: Slots<Pick<SourceRow, "supplier" | "supplier_sku">>) =>
  db
    .select()
    .from(t.productSources)
    .where(
      and(
        eq(t.productSources.supplier, slot.supplier),
        eq(t.productSources.supplier_sku, slot.supplier_sku),
        isNotNull(t.productSources.cost),
      ),
    ),
);

/** What a plan costs by what is known of this source before, else by what the last sync read for another product. */
async function costRead(
  q: Read,
  { supplier, supplierSku: supplier_sku, days }: NewSource,
  known: SourceRow | null,
): Promise<Pick<SourceRow, "cost" | "currency">> {
  if (known !== null && known.cost !== null) return known;
  const others = (await readCosts(q, { supplier, supplier_sku })).filter((one) => one.days === days);
  const [newest = { cost: null, currency: null }] = others.sort((one, other) => other.updated_at - one.updated_at);
  return newest;
}

/** Days of a daily plan at most. */
const MOST_DAYS = 365;

function faultsOf({ supplierSku, priority, days, cost, currency }: NewSource): FieldErrors {
  const errors: FieldErrors = {};
  const isWhole = (value: number, most: number) => Number.isSafeInteger(value) && value >= 1 && value <= most;
  if (supplierSku.trim() === "" || supplierSku.length > 200) errors.supplier_sku = ["must be the name of a plan"];
  if (!isWhole(priority, 1_000)) errors.priority = ["must be a whole number from 1 to 1,000"];
  if (days !== null && !isWhole(days, MOST_DAYS)) errors.days = [`must be a whole number from 1 to ${MOST_DAYS}`];
  if ((cost === null) !== (currency === null)) errors.cost = ["needs its currency, and a currency its cost"];
  if (currency !== null && currencyDecimals(currency) === null) {
    errors.currency = ["must be an ISO 4217 code such as USD"];
  }
  return errors;
}

/** Takes a source away. Throws `not_found`, `conflict` for the last one of a product that is on sale. */
export async function removeSource(
  tx: Tx,
  input: { sku: string; supplier: string; actor: string },
): Promise<{ sku: string; supplier: string }> {
  const product = await requireProduct(tx, input.sku);
  const sources = await sourcesOf(tx, product.id);
  if (!sources.some(({ supplier }) => supplier === input.supplier)) throw notFound("source", input.supplier);
  if (sources.length === 1 && product.status === "active") {
    throw new Problem("conflict", `${product.sku} is on sale and has no other source: set it inactive first.`);
  }
  await drop(tx, { product_id: product.id, supplier: input.supplier });
  await followSources(tx, product.id);
  await audited(tx, "sources.remove", product, { ...input, note: input.supplier });
  return { sku: product.sku, supplier: input.supplier };
}

function audited(tx: Tx, action: string, product: Row<"products">, about: { actor: string; note: string }) {
  return recordAudit(tx, { action, targetKind: "product", targetId: product.id, actor: about.actor, note: about.note });
}

/** Writes a source, and what its product has of its sources. */
export async function putSource(tx: Tx, row: SourceRow): Promise<void> {
  await change(tx, row);
  await followSources(tx, row.product_id);
}

/** The supplier and the cost of a product are those of its first source that is still sold. */
async function followSources(tx: Tx, product_id: ProductId): Promise<void> {
  const product = await findByKey(tx, "products", { id: product_id });
  const sources = await sourcesOf(tx, product_id);
  const first = sources.find(({ status }) => status === "active") ?? sources[0];
  if (product === null) return;
  if (first === undefined) return updateRow(tx, "products", { id: product_id }, { sourced: false });
  const { supplier, cost, currency: cost_currency } = first;
  const after = { sourced: true, supplier, cost, cost_currency };
  const changed = changesOf<Row<"products">>(product, after, ["sourced", "supplier", "cost", "cost_currency"]);
  if (changed.length === 0) return;
  await updateRow(tx, "products", { id: product_id }, after);
  // Prices of price lists are made of costs.
  await tx.touch();
}
