import { and, eq, gte, isNotNull, lt, sql } from "drizzle-orm";
import type { EsimId, OrderId, OrderItemId, OrderLineId, PartnerId, TopupId } from "../kernel/brand.ts";
import { costInCents, formatCost } from "../kernel/cost.ts";
import { newId } from "../kernel/ids.ts";
import { insert } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import type { CostKind } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { findSupplier } from "../suppliers/supplier.ts";

/** What some units cost, and what they are a part of. */
export interface NewCost {
  kind: CostKind;
  /** Null: the units were in stock. */
  supplier: string | null;
  currency: string;
  /** What all units cost, in 1/10,000 of the currency; below zero: given back. */
  cost: number;
  units: number;
  partnerId: PartnerId;
  orderId?: OrderId | null;
  lineId?: OrderLineId | null;
  itemId?: OrderItemId | null;
  topupId?: TopupId | null;
  esimId?: EsimId | null;
  /** The supplier's own order. */
  reference?: string | null;
  /** When (ms); left out: now. */
  at?: number;
}

/**
 * Posts the cost of goods in the ledger: from `house:cogs` to the supplier's account, or that of the stock. What is
 * bought or given back once is posted once: a second posting of the same item, top-up or eSIM changes nothing.
 */
export function postCost(tx: Tx, cost: NewCost): Promise<void> {
  return postCosts(tx, [cost]);
}

/** The same for several at once. */
export async function postCosts(tx: Tx, costs: readonly NewCost[]): Promise<void> {
  await insert(
    tx,
    "costs",
    costs.map((cost) => rowOf(tx, cost)),
    { skipKnown: true },
  );
}

function rowOf(tx: Tx, cost: NewCost): Row<"costs"> {
  const { kind, supplier, currency, units, partnerId: partner_id } = cost;
  return {
    id: newId<string>(tx),
    kind,
    account: supplier === null ? "house:stock" : `supplier:${supplier}`,
    supplier,
    units,
    currency,
    cost: cost.cost,
    cost_cents: costInCents(cost.cost, currency),
    partner_id,
    order_id: cost.orderId ?? null,
    line_id: cost.lineId ?? null,
    item_id: cost.itemId ?? null,
    topup_id: cost.topupId ?? null,
    esim_id: cost.esimId ?? null,
    reference: cost.reference ?? null,
    created_at: cost.at ?? tx.now,
  };
}

/** Where a unit is bought, and what its source says that it costs there; null: not known. */
interface BoughtAt {
  supplier: string;
  cost: number | null;
  cost_currency: string | null;
}

/**
 * What a unit was bought for: what its supplier says that it took, in the currency of the source, or of the account
 * where the source has no cost; else what the source says. Null: that is not known.
 */
export async function costPaid(
  q: Read,
  { supplier, cost, cost_currency }: BoughtAt,
  said: number | null,
): Promise<{ cost: number; cost_currency: string } | null> {
  const paid = said ?? cost;
  const currency = cost_currency ?? (await findSupplier(q, supplier))?.balance_currency ?? null;
  return paid === null || currency === null ? null : { cost: paid, cost_currency: currency };
}

const owed = statement((db, t, slot: Slots<{ from: number; until: number }>) =>
  db
    .select({
      supplier: t.costs.supplier,
      currency: t.costs.currency,
      units: sql`sum(case when ${t.costs.kind} = 'refund' then -${t.costs.units} else ${t.costs.units} end)`.mapWith(
        Number,
      ),
      cost: sql`sum(${t.costs.cost})`.mapWith(Number),
    })
    .from(t.costs)
    .where(and(isNotNull(t.costs.supplier), gte(t.costs.created_at, slot.from), lt(t.costs.created_at, slot.until)))
    .groupBy(t.costs.supplier, t.costs.currency)
    .orderBy(t.costs.supplier, t.costs.currency),
);

/** What a month's supply of one supplier comes to in one currency. */
export interface Owed {
  supplier: string;
  currency: string;
  /** Without those that were given back. */
  units: number;
  cost: string;
  cost_cents: number;
}

/** What suppliers are owed for what was bought from `from` on, before `until` (ms), as the ledger posted it. */
export async function owedToSuppliers(q: Read, input: { from: number; until: number }): Promise<Owed[]> {
  return (await owed(q, input)).map(({ supplier, currency, units, cost }) => ({
    supplier: supplier ?? "",
    currency,
    units,
    cost: formatCost(cost),
    cost_cents: costInCents(cost, currency),
  }));
}

const references = statement((db, t, slot: Slots<{ supplier: string; reference: string }>) =>
  db
    .select({ item_id: t.costs.item_id, topup_id: t.costs.topup_id })
    .from(t.costs)
    .where(and(eq(t.costs.supplier, slot.supplier), eq(t.costs.reference, slot.reference)))
    .limit(1),
);

const delivered = statement((db, t, slot: Slots<{ supplier: string; reference: string }>) =>
  db
    .select({ id: t.esims.id })
    .from(t.esims)
    .where(and(eq(t.esims.supplier, slot.supplier), eq(t.esims.supplier_ref, slot.reference)))
    .limit(1),
);

/**
 * Which of these names of a supplier belong to another purchase than that of the item or top-up `own`: orders that
 * were posted, and eSIMs that were delivered.
 */
export async function knownPurchases(
  q: Read,
  input: { supplier: string; references: readonly string[]; own: string },
): Promise<string[]> {
  const known: string[] = [];
  for (const reference of input.references) {
    const [row] = await references(q, { supplier: input.supplier, reference });
    const isOther = row !== undefined && row.item_id !== input.own && row.topup_id !== input.own;
    if (isOther || (await delivered(q, { supplier: input.supplier, reference })).length > 0) known.push(reference);
  }
  return known;
}
