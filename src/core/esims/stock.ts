import { and, eq, gte, isNull, sql } from "drizzle-orm";
import type { EsimId, OrderLineId, ProductId } from "../kernel/brand.ts";
import { findByKey, isAmong, isAtHand, locking } from "../store/rows.ts";
import { gathersRows } from "../store/run-memory.ts";
import type { Tables } from "../store/schema/tables.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Db, Read, Tx } from "../store/store.ts";
import { type Assignment, assignInRun, type Need, requireAll, reserveInRun } from "./stock-in-run.ts";

/** A product of which the stock holds too few. */
export interface Shortage {
  sku: string;
  needed: number;
  available: number;
}

const take = statement((db, t, slot: Slots<{ product_id: ProductId; quantity: number }>) =>
  db
    .update(t.stockPools)
    .set({ available: sql`${t.stockPools.available} - ${slot.quantity}` })
    .where(and(eq(t.stockPools.product_id, slot.product_id), gte(t.stockPools.available, slot.quantity)))
    .returning({ product_id: t.stockPools.product_id }),
);

const give = statement((db, t, slot: Slots<{ product_id: ProductId; quantity: number }>) =>
  db
    .update(t.stockPools)
    .set({ available: sql`${t.stockPools.available} + ${slot.quantity}` })
    .where(eq(t.stockPools.product_id, slot.product_id)),
);

/** How many eSIMs of a product are free. */
export async function availableStock(q: Read, productId: ProductId): Promise<number> {
  return (await findByKey(q, "stockPools", { product_id: productId }))?.available ?? 0;
}

/**
 * What is missing for `needs`, all taken together; empty: there is enough of everything. `held` is of what is free, and
 * not free for these needs.
 */
export async function shortages(
  q: Read,
  needs: Need[],
  held: ReadonlyMap<ProductId, number> = new Map(),
): Promise<Shortage[]> {
  const short: Shortage[] = [];
  for (const need of merged(needs)) {
    const available = (await availableStock(q, need.productId)) - (held.get(need.productId) ?? 0);
    if (available < need.quantity) short.push({ sku: need.sku, needed: need.quantity, available });
  }
  return short;
}

/**
 * Reserves everything or nothing; the result is whether it did. The pools stay locked until the commit: orders of other
 * partners may be written meanwhile, and wait for them. All take them in one order. Commands of a run take them at its
 * end, by what was free when the first of them looked.
 */
export async function reserveAll(tx: Tx, needs: Need[]): Promise<boolean> {
  const wanted = merged(needs).sort((a, b) => (a.productId < b.productId ? -1 : 1));
  if (tx.memory) return reserveInRun(tx, wanted);
  const reserved: Need[] = [];
  for (const need of wanted) {
    const { productId: product_id, quantity } = need;
    // Looked at and taken by one statement: no other order comes between.
    if ((await take(tx, { product_id, quantity })).length > 0) reserved.push(need);
    else {
      for (const { productId, quantity: given } of reserved) await give(tx, { product_id: productId, quantity: given });
      return false;
    }
  }
  return true;
}

/** The same; returns what was short, and then nothing was reserved. */
export async function reserveStock(tx: Tx, needs: Need[]): Promise<Shortage[]> {
  return (await reserveAll(tx, needs)) ? [] : shortages(tx, needs);
}

/** Makes `quantity` more eSIMs of a product available: new ones, or ones given back. */
export async function addToPool(tx: Tx, productId: ProductId, quantity: number): Promise<void> {
  if (quantity > 0) await give(tx, { product_id: productId, quantity });
}

/** The oldest eSIMs of the stock, but for those that other writes under way have chosen. */
function oldestFree(db: Db, t: Tables, { productId, quantity }: Slots<Pick<Assignment, "productId" | "quantity">>) {
  const free = db
    .select({ id: t.esims.id })
    .from(t.esims)
    .where(and(eq(t.esims.product_id, productId), isNull(t.esims.order_id)))
    .orderBy(t.esims.id)
    .limit(quantity);
  return locking(t, free, { skipLocked: true });
}

type Owner = Omit<Assignment, "productId" | "quantity"> & { now: number };

function ownedBy({ orderId, lineId, partnerId, now }: Slots<Owner>) {
  const environment = "production" as const;
  return { order_id: orderId, line_id: lineId, partner_id: partnerId, environment, assigned_at: now };
}

const assign = statement((db, t, slot: Slots<Assignment & Owner>) =>
  db
    .update(t.esims)
    .set(ownedBy(slot))
    .where(isAmong(t, t.esims.id, oldestFree(db, t, slot)))
    .returning({ id: t.esims.id }),
);

const choose = statement(oldestFree);

const assignOne = statement((db, t, slot: Slots<Owner & { id: EsimId }>) =>
  db
    .update(t.esims)
    .set(ownedBy(slot))
    .where(and(eq(t.esims.id, slot.id), isNull(t.esims.order_id))),
);

/** An update that chooses from its own table keeps what it has chosen in a table of its own, which takes longer. */
async function assignEach(tx: Tx, input: Assignment & Owner): Promise<EsimId[]> {
  const assigned: EsimId[] = [];
  for (const { id } of await choose(tx, input)) {
    if ((await assignOne(tx, { ...input, id })).changes === 1) assigned.push(id);
  }
  return assigned;
}

/**
 * Hands reserved eSIMs of the stock to an order line, oldest first but for those that other writes under way have
 * chosen. There are always enough: each write chooses no more than was reserved for its order, and one line after the
 * other.
 */
export async function assignFromStock(tx: Tx, input: Assignment): Promise<void> {
  // The order and its lines are not there yet; what a run reserved it has a pool for.
  if (gathersRows(tx)) return assignInRun(tx, input);
  const owned = { ...input, now: tx.now };
  requireAll(await (isAtHand(tx) ? assignEach(tx, owned) : assign(tx, owned)), input.quantity);
}

function merged(needs: Need[]): Need[] {
  const byProduct = new Map<ProductId, Need>();
  for (const need of needs) {
    const known = byProduct.get(need.productId);
    byProduct.set(need.productId, { ...need, quantity: need.quantity + (known?.quantity ?? 0) });
  }
  return [...byProduct.values()];
}

const unassign = statement((db, t, slot: Slots<{ line_id: OrderLineId }>) =>
  db
    .update(t.esims)
    .set({ order_id: null, line_id: null, partner_id: null, environment: null, assigned_at: null })
    .where(eq(t.esims.line_id, slot.line_id)),
);

/** Gives back what an undelivered line holds: its reservation, and assigned eSIMs whose codes were never shown. */
export async function returnToStock(
  tx: Tx,
  line: { id: OrderLineId; product_id: ProductId; assigned: number },
  held: number,
): Promise<void> {
  if (held === 0) return;
  if (line.assigned > 0) await unassign(tx, { line_id: line.id });
  await addToPool(tx, line.product_id, held);
}

/** How much of one product is free. */
export interface StockLevel {
  product_id: string;
  sku: string;
  name: string;
  status: string;
  available: number;
}

const levels = statement((db, t, _slot) =>
  db
    .select({
      product_id: t.products.id,
      sku: t.products.sku,
      name: t.products.name,
      status: t.products.status,
      available: t.stockPools.available,
    })
    .from(t.stockPools)
    .innerJoin(t.products, eq(t.products.id, t.stockPools.product_id))
    .where(eq(t.products.delivery_method, "stock"))
    .orderBy(t.products.sku),
);

/** The stock of every stocked product, by sku; `below` leaves only those on sale with fewer. */
export async function stockLevels(q: Read, input: { below: number | null }): Promise<StockLevel[]> {
  const all = await levels(q, {});
  const { below } = input;
  return below === null ? all : all.filter(({ available, status }) => available < below && status !== "inactive");
}
