import { NEGATIVE_MARGIN, NO_PLAN } from "../catalog/held.ts";
import type { ProductInput } from "../catalog/product-input.ts";
import { formatCost } from "../kernel/cost.ts";
import type { Row } from "../store/schema/tables.ts";
import type { FieldChange } from "../store/schema/values.ts";
import type { Facts, Offer } from "./offer.ts";
import { type Pricing, pricedAt } from "./pricing.ts";
import type { SourceRow } from "./sources.ts";

/** What a sync changes of a product, or would. */
export interface SyncChange extends FieldChange {
  sku: string;
  supplier_sku: string;
  /** What a cost or price is in now; `cost_currency` says what it was in before. */
  currency?: string;
}

/** A product, its source at the supplier that is read, and its other sources. */
export interface KnownProduct {
  product: Row<"products">;
  source: SourceRow;
  others: readonly SourceRow[];
}

/** What is to be written of one product. */
export interface Difference {
  outcome: "unchanged" | "updated" | "deactivated" | "held";
  /** The source as it is to be; null: as it is. */
  source: SourceRow | null;
  fields: Partial<ProductInput>;
  /** Left out: as it is. */
  held?: string | null;
  changes: SyncChange[];
}

/**
 * Compares a product with what its supplier has now; `offer` null: the plan is gone. Pure, so that a dry run shows what
 * a sync does.
 */
export function differenceOf(known: KnownProduct, offer: Offer | null, pricing: Pricing): Difference {
  return offer === null ? withoutPlan(known) : withPlan(known, offer, pricing);
}

function withoutPlan({ product, source, others }: KnownProduct): Difference {
  if (source.status === "gone") return { outcome: "unchanged", source: null, fields: {}, changes: [] };
  const changed = changeList(product, source);
  changed.add("source", source.status, "gone");
  const after: SourceRow = { ...source, status: "gone" };
  const isSold = others.some(({ status }) => status === "active");
  if (isSold || product.status === "inactive")
    return { outcome: "updated", source: after, fields: {}, changes: changed.list };
  changed.add("status", product.status, "inactive");
  const fields = { status: "inactive" } as const;
  return { outcome: "deactivated", source: after, fields, held: NO_PLAN, changes: changed.list };
}

function withPlan(known: KnownProduct, offer: Offer, { markupPoints, rates }: Pricing): Difference {
  const { product, source } = known;
  const { cost, currency } = offer;
  const { currency: to } = product;
  const changed = changeList(product, source);
  const price = source.synced ? pricedAt(offer, { to, rates, markupPoints }) : null;
  const after: SourceRow = { ...source, cost, currency, price_cents: price, status: "active" };
  changed.add("cost", costWords(source), costWords(offer), currency);
  changed.add("cost_currency", source.currency, currency);
  changed.add("source", source.status, "active");
  const fields: Partial<ProductInput> = source.synced ? newFacts(product, offer.facts, changed) : {};
  // A price that is another one than the last sync made was set by hand, and stays.
  if (price !== null && product.price_cents === source.price_cents && price !== product.price_cents) {
    changed.add("price_cents", product.price_cents, price, to);
    fields.price_cents = price;
  }
  const moved = cost !== source.cost || currency !== source.currency || price !== source.price_cents;
  const floor = pricedAt(offer, { to, rates, markupPoints: 0 });
  const isLoss = floor !== null && leads(known) && (fields.price_cents ?? product.price_cents) < floor;
  const sale = saleOf(product, { isLoss: isLoss && (moved || product.held === NO_PLAN) }, changed);
  if (sale.status !== undefined) fields.status = sale.status;
  const nothing = changed.list.length === 0;
  // Only what the sync itself remembers of the price may be another one.
  const same = nothing && price === source.price_cents;
  const held = sale.held === undefined ? {} : { held: sale.held };
  const outcome = nothing ? "unchanged" : sale.held === NEGATIVE_MARGIN ? "held" : "updated";
  return { outcome, source: same ? null : after, fields, ...held, changes: changed.list };
}

/** Whether units are bought there first. */
function leads({ source, others }: KnownProduct): boolean {
  return others.every(({ status, priority }) => status !== "active" || priority >= source.priority);
}

/** Whether it goes off sale, or back on sale: only what a sync has taken off comes back by itself. */
function saleOf(
  product: Row<"products">,
  { isLoss }: { isLoss: boolean },
  changed: ReturnType<typeof changeList>,
): { status?: "active" | "inactive"; held?: string | null } {
  const isBack = product.held === NO_PLAN;
  if (isLoss && (isBack || product.status !== "inactive")) {
    changed.add("held", product.held, NEGATIVE_MARGIN);
    changed.add("status", product.status, "inactive");
    return { status: "inactive", held: NEGATIVE_MARGIN };
  }
  if (!isBack) return {};
  changed.add("status", product.status, "active");
  return { status: "active", held: null };
}

function newFacts(product: Row<"products">, facts: Facts, changed: ReturnType<typeof changeList>): Partial<Facts> {
  const differs = (field: keyof Facts) => changed.add(field, shown(product[field]), shown(facts[field]));
  const names = Object.keys(facts) as (keyof Facts)[]; // it has these keys and no others
  return Object.fromEntries(names.filter(differs).map((field) => [field, facts[field]]));
}

function changeList({ sku }: Row<"products">, { supplier_sku }: SourceRow) {
  const list: SyncChange[] = [];
  const add = (field: string, from: FieldChange["from"], to: FieldChange["to"], currency?: string): boolean => {
    if (from === to) return false;
    list.push({ sku, supplier_sku, field, from, to, ...(currency === undefined ? {} : { currency }) });
    return true;
  };
  return { list, add };
}

function costWords({ cost }: { cost: number | null }): string | null {
  return cost === null ? null : formatCost(cost);
}

function shown(value: string | number | readonly string[] | null): string | number | null {
  return typeof value === "string" || typeof value === "number" || value === null ? value : value.join(", ");
}
