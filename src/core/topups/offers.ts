import { and, eq } from "drizzle-orm";
import { recordAudit } from "../audit/record.ts";
import { findProductBySku } from "../catalog/product.ts";
import type { OrderId, PartnerId, ProductId } from "../kernel/brand.ts";
import { canonicalText } from "../kernel/canonical.ts";
import { counted } from "../kernel/counted.ts";
import { newId } from "../kernel/ids.ts";
import { requireOrder } from "../orders/order.ts";
import { priceListOf } from "../prices/lists.ts";
import { rateToday } from "../prices/rates.ts";
import { pricesByProduct } from "../prices/unit-price.ts";
import { insert, updateRow } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import type { ProductPurpose } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { requireSupplier } from "../suppliers/supplier.ts";
import type { Plan } from "../supply/provider.ts";
import { type PricedPlan, type Pricing, pricedPlans, skusOf, topupProduct } from "./plan-products.ts";

/** The top-up plans that a supplier has for an eSIM, and the order whose currency they are sold in. */
export interface OfferedPlans {
  supplier: string;
  orderId: OrderId;
  plans: readonly Plan[];
}

/** A plan with its product and source as the catalog has them; null: it has none yet. */
interface Offered {
  priced: PricedPlan;
  known: { product: Row<"products">; source: Row<"productSources"> } | null;
}

type OfPlan = { supplier: string; supplier_sku: string; purpose: ProductPurpose };

const ofPlan = statement((db, t, slot: Slots<OfPlan>) =>
  db
    .select({ product: t.products, source: t.productSources })
    .from(t.productSources)
    .innerJoin(t.products, eq(t.products.id, t.productSources.product_id))
    .where(
      and(
        eq(t.productSources.supplier, slot.supplier),
        eq(t.productSources.supplier_sku, slot.supplier_sku),
        eq(t.products.purpose, slot.purpose),
      ),
    )
    .orderBy(t.productSources.product_id),
);

/**
 * The products of these plans, cheapest first; null: the catalog is to be changed for them first. A plan whose cost
 * cannot be converted into the currency of the order is left out.
 */
export async function productsOffered(q: Read, input: OfferedPlans): Promise<Row<"products">[] | null> {
  const { offered } = await offeredPlans(q, input);
  const products = offered.flatMap((one) => (isCurrent(one, input.supplier) ? [one.known.product] : []));
  return products.length < offered.length ? null : sorted(products);
}

/** The same, once the catalog has the products as the supplier has the plans. */
export async function offerTopups(tx: Tx, input: OfferedPlans): Promise<Row<"products">[]> {
  const { offered, pricing } = await offeredPlans(tx, input);
  const products: Row<"products">[] = [];
  let changed = 0;
  for (const one of offered) {
    if (isCurrent(one, input.supplier)) {
      products.push(one.known.product);
      continue;
    }
    const product = one.known === null ? await addProduct(tx, one.priced, pricing) : await update(tx, one);
    if (product === null) continue;
    products.push(product);
    changed += 1;
  }
  if (changed > 0) {
    await tx.touch();
    const about = { action: "topups.offer", targetKind: "supplier", targetId: input.supplier };
    await recordAudit(tx, { actor: "worker", ...about, note: counted(changed, "product") });
  }
  return sorted(products);
}

function sorted(products: Row<"products">[]): Row<"products">[] {
  return products.sort((a, b) => a.price_cents - b.price_cents || (a.sku < b.sku ? -1 : 1));
}

async function offeredPlans(q: Read, input: OfferedPlans): Promise<{ offered: Offered[]; pricing: Pricing }> {
  const { currency } = await requireOrder(q, input.orderId);
  const rates = new Map<string, string | null>();
  for (const plan of input.plans) {
    if (!rates.has(plan.currency)) rates.set(plan.currency, await rateToday(q, plan.currency, currency));
  }
  const supplier = await requireSupplier(q, input.supplier);
  const pricing = { supplier, currency, rateFrom: (from: string) => rates.get(from) ?? null };
  const offered: Offered[] = [];
  for (const plan of input.plans) {
    const priced = pricedPlans(plan, pricing);
    const found = await ofPlan(q, { supplier: input.supplier, supplier_sku: plan.plan, purpose: "topup" });
    for (const one of priced) {
      const known = found.find(({ product, source }) => product.currency === currency && source.days === one.days);
      offered.push({ priced: one, known: known ?? null });
    }
  }
  return { offered, pricing };
}

/** Whether the catalog has the plan as its supplier has it. */
function isCurrent(offered: Offered, supplier: string): offered is Offered & { known: NonNullable<Offered["known"]> } {
  const { known, priced } = offered;
  if (known === null) return false;
  const { product, source } = known;
  const wanted = topupProduct(priced, supplier);
  // The names of its columns.
  const same = (Object.keys(wanted) as (keyof typeof wanted)[]).every(
    (field) => canonicalText(wanted[field]) === canonicalText(product[field]),
  );
  return same && source.cost === priced.cost && source.currency === priced.plan.currency && source.status === "active";
}

async function update(tx: Tx, { known, priced }: Offered): Promise<Row<"products"> | null> {
  if (known === null) return null;
  const { id } = known.product;
  const { supplier } = known.source;
  const change = { ...topupProduct(priced, supplier), updated_at: tx.now };
  await updateRow(tx, "products", { id }, change);
  await keepSource(tx, {
    product_id: id,
    supplier,
    cost: priced.cost,
    currency: priced.plan.currency,
    status: "active",
    updated_at: tx.now,
  });
  return { ...known.product, ...change };
}

type SourceChange = Pick<
  Row<"productSources">,
  "product_id" | "supplier" | "cost" | "currency" | "status" | "updated_at"
>;

const keepSource = statement((db, t, slot: Slots<SourceChange>) =>
  db
    .update(t.productSources)
    .set({ cost: slot.cost, currency: slot.currency, status: slot.status, updated_at: slot.updated_at })
    .where(and(eq(t.productSources.product_id, slot.product_id), eq(t.productSources.supplier, slot.supplier))),
);

/** Adds a plan's product; null: other products have all of its SKUs. */
async function addProduct(tx: Tx, priced: PricedPlan, { supplier }: Pricing): Promise<Row<"products"> | null> {
  const sku = await freeSku(tx, skusOf(priced, supplier));
  if (sku === null) return null;
  const moments = { created_at: tx.now, updated_at: tx.now };
  const product: Row<"products"> = {
    id: newId<ProductId>(tx),
    sku,
    ...topupProduct(priced, supplier.name),
    ...moments,
  };
  await insert(tx, "products", [product]);
  await insert(tx, "productSources", [
    {
      product_id: product.id,
      supplier: supplier.name,
      supplier_sku: priced.plan.plan,
      days: priced.days,
      priority: 1,
      cost: priced.cost,
      currency: priced.plan.currency,
      // No sync made it, nor does one look at it.
      synced: false,
      status: "active",
      ...moments,
    },
  ]);
  return product;
}

async function freeSku(q: Read, skus: readonly string[]): Promise<string | null> {
  for (const sku of skus) if ((await findProductBySku(q, sku)) === null) return sku;
  return null;
}

/** Products at the prices of a partner, the cheapest first. */
export async function atPartnerPrices(
  q: Read,
  { partnerId, products }: { partnerId: PartnerId; products: readonly Row<"products">[] },
): Promise<Row<"products">[]> {
  const price = pricesByProduct(q, await priceListOf(q, partnerId));
  const priced: Row<"products">[] = [];
  for (const one of products) priced.push({ ...one, price_cents: (await price(one, 1)).unit_price_cents });
  return priced.toSorted((a, b) => a.price_cents - b.price_cents || (a.sku < b.sku ? -1 : 1));
}
