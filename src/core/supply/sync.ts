import { recordAudit } from "../audit/record.ts";
import { importProducts, updateProduct } from "../catalog/import.ts";
import { findProductBySku } from "../catalog/product.ts";
import { findByKey, updateRow } from "../store/rows.ts";
import type { Tx } from "../store/store.ts";
import { requireSupplier } from "../suppliers/supplier.ts";
import { productOf } from "./offer.ts";
import { type Pricing, pricedAt } from "./pricing.ts";
import { putSource, type SourceRow, sourcesOf } from "./sources.ts";
import { differenceOf } from "./sync-diff.ts";
import { added, count, emptyReport, type SyncReport } from "./sync-report.ts";
import { knownOf, type Target } from "./sync-survey.ts";

/** Products that one transaction writes at most, so that nothing else waits for long. */
export const SYNC_STEP = 50;

interface Step {
  supplier: string;
  targets: readonly Target[];
  pricing: Pricing;
  actor: string;
}

/**
 * Writes a part of what `surveySync` has found, compared once more with what is stored now: what changed since then, or
 * was done by another sync, is not done over.
 */
export async function applySync(tx: Tx, step: Step): Promise<SyncReport> {
  const report = emptyReport(0);
  const fresh = step.targets.flatMap((target) => (target.productId === null ? [target] : []));
  for (const target of step.targets) {
    if (target.productId !== null) await changeProduct(tx, target, step, report);
  }
  await addProducts(tx, fresh, step, report);
  return report;
}

type Known = Extract<Target, { productId: string }>;

async function changeProduct(
  tx: Tx,
  { productId, offer }: Known,
  { supplier, pricing, actor }: Step,
  report: SyncReport,
): Promise<void> {
  const product = await findByKey(tx, "products", { id: productId });
  const [known] = product === null ? [] : knownOf(product, await sourcesOf(tx, productId), supplier);
  if (known === undefined) return;
  const difference = differenceOf(known, offer, pricing);
  count(report, difference);
  const { source, fields, held } = difference;
  if (source === null) return;
  await putSource(tx, { ...source, updated_at: tx.now });
  if (Object.keys(fields).length > 0) await updateProduct(tx, { ...fields, sku: known.product.sku, actor });
  if (held !== undefined) await updateRow(tx, "products", { id: productId }, { held });
}

type Fresh = Extract<Target, { productId: null }>;

async function addProducts(
  tx: Tx,
  fresh: readonly Fresh[],
  { supplier, pricing, actor }: Step,
  report: SyncReport,
): Promise<void> {
  const priced: (Fresh & { price: number })[] = [];
  for (const one of fresh) {
    const price = pricedAt(one.offer, { to: one.currency, ...pricing });
    if (price !== null && (await findProductBySku(tx, one.sku)) === null) priced.push({ ...one, price });
    else report.skipped.push({ sku: one.sku, reason: "was added meanwhile" });
  }
  if (priced.length === 0) return;
  const products = priced.map(({ offer, sku, currency, price: price_cents }) =>
    productOf(offer, { sku, supplier, price_cents, currency }),
  );
  await importProducts(tx, { products, actor });
  for (const one of priced) {
    const product = await findProductBySku(tx, one.sku);
    if (product === null) throw new Error("a product that was added is not there");
    await putSource(tx, sourceOf(tx, one, { product_id: product.id, supplier }));
    added(report, one);
  }
}

function sourceOf(
  tx: Tx,
  { offer, price }: Fresh & { price: number },
  of: Pick<SourceRow, "product_id" | "supplier">,
): SourceRow {
  const { plan: supplier_sku, days, cost, currency } = offer;
  const kept = { synced: true, status: "active", created_at: tx.now, updated_at: tx.now } as const;
  return { ...of, supplier_sku, days, priority: 1, cost, currency, price_cents: price, ...kept };
}

interface SyncEnd {
  supplier: string;
  markupPoints: number;
  prefix: string;
  report: Pick<SyncReport, "added" | "updated" | "deactivated" | "held">;
  actor: string;
}

/** Keeps how a sync priced its plans, and that it was made; the audit trail has those that changed something. */
export async function endSync(tx: Tx, { supplier, markupPoints, prefix, report, actor }: SyncEnd): Promise<void> {
  const before = await requireSupplier(tx, supplier);
  const settings = { markup_points: markupPoints, sku_prefix: prefix };
  const isOther = before.markup_points !== markupPoints || before.sku_prefix !== prefix;
  const change = { ...settings, synced_at: tx.now, ...(isOther ? { updated_at: tx.now } : {}) };
  await updateRow(tx, "suppliers", { name: supplier }, change);
  const done = Object.entries(report).filter(([, many]) => many > 0);
  if (!isOther && done.length === 0) return;
  const note = done.map(([what, many]) => `${many} ${what}`).join(", ") || "no product changed";
  const about = { targetKind: "supplier", targetId: supplier, fields: isOther ? Object.keys(settings) : [] };
  await recordAudit(tx, { action: "suppliers.sync", actor, ...about, note });
}
