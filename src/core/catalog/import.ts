import { changesOf } from "../audit/changes.ts";
import { type Actor, recordAudit } from "../audit/record.ts";
import type { ProductId } from "../kernel/brand.ts";
import { payloadHash } from "../kernel/canonical.ts";
import { counted } from "../kernel/counted.ts";
import { coverageKey } from "../kernel/country.ts";
import { newId } from "../kernel/ids.ts";
import { invalid, notFound } from "../kernel/problem.ts";
import { regionKey } from "../kernel/search-keys.ts";
import { listsWithPrice } from "../prices/rules.ts";
import { insert, updateRow } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import type { Tx } from "../store/store.ts";
import { keepUpdates, type ProductUpdate, updateOf } from "./announce.ts";
import { releaseOf } from "./held.ts";
import { findProductBySku, type ProductDetail, toProductDetail } from "./product.ts";
import { checkImportedProduct, checkProduct, type ProductInput } from "./product-input.ts";

export type ProductOutcome = "imported" | "updated" | "duplicate";

/** What filters look products up by: see the schema's columns. */
function keysOf({ region, coverage }: ProductInput): { region_key: string; coverage_key: string } {
  return { region_key: regionKey(region), coverage_key: coverageKey(coverage) };
}

/**
 * Creates or updates products by sku, all in one transaction; one that is there unchanged is a duplicate.
 * Throws `validation` where a product would change its currency that price lists have a price of.
 */
export async function importProducts(
  tx: Tx,
  input: { products: ProductInput[]; actor: string },
): Promise<ProductOutcome[]> {
  const outcomes: ProductOutcome[] = [];
  const updates: (ProductUpdate | null)[] = [];
  for (const product of input.products) {
    const { outcome, update } = await upsert(tx, product, input.actor);
    outcomes.push(outcome);
    updates.push(update);
  }
  await keepUpdates(tx, updates);
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

interface Upserted {
  outcome: ProductOutcome;
  update: ProductUpdate | null;
}

async function upsert(tx: Tx, product: ProductInput, actor: Actor): Promise<Upserted> {
  const known = await findProductBySku(tx, product.sku);
  if (known === null) {
    const id = newId<ProductId>(tx);
    await insert(tx, "products", [
      { id, ...product, ...keysOf(product), purpose: "plan", sourced: false, created_at: tx.now, updated_at: tx.now },
    ]);
    await ensurePool(tx, id);
    return { outcome: "imported", update: null };
  }
  if (payloadHash(inputOf(known)) === payloadHash(product)) return { outcome: "duplicate", update: null };
  await refuseCurrency(tx, known, product);
  const decides = product.status !== known.status || product.price_cents !== known.price_cents;
  const held = decides ? null : known.held;
  await updateRow(tx, "products", { id: known.id }, { ...product, ...keysOf(product), held, updated_at: tx.now });
  await auditChange(tx, known, product, actor);
  return { outcome: "updated", update: updateOf(known, product) };
}

/** The columns whose values the audit trail keeps: all but long texts. */
const KEPT = [
  "name",
  "region",
  "coverage",
  "data_amount_mb",
  "validity_days",
  "price_cents",
  "currency",
  "type",
  "status",
  "product_type",
  "delivery_method",
  "supplier",
] as const;

async function auditChange(tx: Tx, row: Row<"products">, product: ProductInput, actor: Actor): Promise<void> {
  const changes = changesOf<ProductInput>(row, product, KEPT);
  const before = inputOf(row);
  const named = new Set(Object.entries(product).map(([field]) => field as keyof ProductInput));
  const fields = [...named].filter((field) => payloadHash(before[field]) !== payloadHash(product[field]));
  const about = { targetKind: "product", targetId: row.id };
  await recordAudit(tx, { actor, action: "products.update", ...about, fields, changes });
}

/** Prices of price lists are in the product's currency: another one would make other prices of them. */
async function refuseCurrency(tx: Tx, row: Row<"products">, { currency }: ProductInput): Promise<void> {
  if (row.currency === currency) return;
  const lists = await listsWithPrice(tx, row.id);
  if (lists.length === 0) return;
  const words = `${row.sku} has a price in ${row.currency} in ${lists.join(", ")}: remove it first`;
  throw invalid({ currency: [`cannot change to ${currency}: ${words}`] });
}

async function ensurePool(tx: Tx, productId: ProductId): Promise<void> {
  await insert(tx, "stockPools", [{ product_id: productId, available: 0 }]);
}

function inputOf(row: Row<"products">): ProductInput {
  const { id, region_key, coverage_key, low_stock, when_short, created_at, updated_at, ...rest } = row;
  const { purpose, sourced, cost, cost_currency, held, ...input } = rest;
  return input;
}

/** What the operator may change about a product that is on sale: every field but its sku, as an import has them. */
export type ProductChange = { [F in Exclude<keyof ProductInput, "sku">]?: unknown } & { sku: string; actor: string };

/**
 * Changes fields of one product; orders already placed keep theirs. Coverage is read as in an import. Throws
 * `not_found`, `validation`.
 */
export async function updateProduct(tx: Tx, input: ProductChange): Promise<ProductDetail> {
  const { sku, actor, ...change } = input;
  const row = await findProductBySku(tx, sku);
  if (row === null) throw notFound("product", sku);
  const { held = row.held, ...release } = releaseOf(row, change);
  const given = { ...inputOf(row), ...release, ...change };
  const checked = change.coverage === undefined ? checkProduct(given) : checkImportedProduct(given);
  if ("problems" in checked) throw invalid(checked.problems);
  await refuseCurrency(tx, row, checked.ok);
  await updateRow(tx, "products", { id: row.id }, { ...checked.ok, ...keysOf(checked.ok), held, updated_at: tx.now });
  await auditChange(tx, row, checked.ok, actor);
  await keepUpdates(tx, [updateOf(row, checked.ok)]);
  await tx.touch();
  return toProductDetail((await findProductBySku(tx, sku)) ?? row);
}
