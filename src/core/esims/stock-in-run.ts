import { and, eq, isNull, sql } from "drizzle-orm";
import type { OrderId, OrderLineId, PartnerId, ProductId } from "../kernel/brand.ts";
import { together } from "../kernel/together.ts";
import { elementsOf, isElement, isListed, listOf, locking, lockRows } from "../store/rows.ts";
import { remembered, StaleRunError, writeLast } from "../store/run-memory.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";

/** So many eSIMs of one product. */
export interface Need {
  productId: ProductId;
  sku: string;
  quantity: number;
}

/** So many eSIMs for a line of an order. */
export type Assignment = {
  productId: ProductId;
  orderId: OrderId;
  lineId: OrderLineId;
  partnerId: PartnerId;
  quantity: number;
};

/** Throws unless as many eSIMs were assigned as were reserved. */
export function requireAll(assigned: readonly unknown[], quantity: number): void {
  if (assigned.length !== quantity) throw new Error("the stock holds fewer eSIMs than its pool says");
}

/** What a run knows of a product's stock. */
interface RunPool {
  /** What was free when the run began, without what it has taken since. */
  available: number;
  /** Taken, and not written yet. */
  taken: number;
  /** To be handed out when it is. */
  assigned: Assignment[];
}

/** The pools of which a run has taken, by product. */
type RunPools = Map<ProductId, RunPool>;

async function poolsInRun(tx: Tx): Promise<RunPools> {
  return remembered(tx, "pools", async () => new Map());
}

const free = statement((db, t, slot: Slots<{ ids: string }>) => {
  const { product_id, available } = t.stockPools;
  return db
    .select({ product_id, available })
    .from(t.stockPools)
    .where(isListed(t, product_id, slot.ids));
});

/** Looks up what commands of a run may take of these products. */
export async function lookAtPools(tx: Tx, ids: Iterable<ProductId>): Promise<void> {
  const pools = await poolsInRun(tx);
  const unknown = [...new Set(ids)].filter((id) => !pools.has(id));
  if (unknown.length === 0) return;
  const found = new Map((await free(tx, { ids: listOf(unknown) })).map((row) => [row.product_id, row.available]));
  for (const id of unknown) pools.set(id, { available: found.get(id) ?? 0, taken: 0, assigned: [] });
}

async function poolInRun(tx: Tx, productId: ProductId): Promise<RunPool> {
  const pool = (await poolsInRun(tx)).get(productId);
  if (pool === undefined) throw new Error("the pool of a product was not looked at");
  return pool;
}

/** Reserves everything or nothing, by what was free when the run looked; the result is whether it did. */
export async function reserveInRun(tx: Tx, needs: readonly Need[]): Promise<boolean> {
  await lookAtPools(
    tx,
    needs.map(({ productId }) => productId),
  );
  const taking: { quantity: number; pool: RunPool }[] = [];
  for (const { productId, quantity } of needs) taking.push({ quantity, pool: await poolInRun(tx, productId) });
  if (taking.some(({ quantity, pool }) => pool.available < quantity)) return false;
  for (const { quantity, pool } of taking) {
    pool.available -= quantity;
    pool.taken += quantity;
  }
  await writeLast(tx, "pools", async () => writePools(tx, await poolsInRun(tx)));
  return true;
}

const takeEach = statement((db, t, slot: Slots<{ needs: string }>) => {
  const { product_id, available } = t.stockPools;
  const quantity = sql`cast(listed.value ->> 1 as bigint)`;
  return (
    db
      .update(t.stockPools)
      .set({ available: sql`${available} - ${quantity}` })
      // Its type expects a table.
      .from(elementsOf(t, slot.needs))
      .where(and(isElement(t, product_id, slot.needs), sql`${available} >= ${quantity}`))
      .returning({ product_id })
  );
});

/**
 * Takes what a run has reserved, and hands out what it has assigned. Pools are locked in one order, and no sooner than
 * here: orders of others wait for them. Throws `StaleRunError` where too little is left.
 */
async function writePools(tx: Tx, pools: RunPools): Promise<void> {
  const taken = [...pools].filter(([, { taken }]) => taken > 0);
  const needs = taken.map(([productId, pool]) => [productId, pool.taken] as const);
  const lines = taken.flatMap(([, { assigned }]) => assigned);
  for (const [, pool] of taken) Object.assign(pool, { taken: 0, assigned: [] });
  const ids = new Set(taken.map(([productId]) => productId));
  const [, took] = await together(
    lockRows(tx, "stockPools", ids),
    takeEach(tx, { needs: JSON.stringify(needs) }),
    assignAll(tx, needs, lines),
  );
  if (took.length !== taken.length) throw new StaleRunError("the stock of a product");
}

/** Hands reserved eSIMs to a line at the end of the run: the order and its lines are not there before. */
export async function assignInRun(tx: Tx, input: Assignment): Promise<void> {
  (await poolInRun(tx, input.productId)).assigned.push(input);
}

type Units = { needs: string; units: string; now: number };

/** JSON: `needs` lists products and quantities, `units` product, place from 1 on, order, line and partner of each. */
const assignUnits = statement((db, t, slot: Slots<Units>) => {
  const { id, product_id, order_id } = t.esims;
  const cell = <T>(at: number) => sql<T>`listed.value ->> ${sql.raw(String(at))}`;
  const free = db
    .select({ id })
    .from(t.esims)
    .where(and(eq(product_id, sql`needs.product_id`), isNull(order_id)))
    .orderBy(id)
    // Its type expects a number.
    .limit(sql`needs.quantity` as unknown as number);
  // Chosen once, before they are joined with the units: what chooses them locks them.
  const chosen = sql`select needs.product_id, one.id, one.place
    from (select ${cell(0)} as product_id, cast(${cell(1)} as bigint) as quantity
      from ${elementsOf(t, slot.needs)}) as needs
    cross join lateral unnest(array(${locking(t, free, { skipLocked: true })})) with ordinality as one(id, place)`;
  const picked = sql`(with chosen as materialized (${chosen})
    select chosen.id, listed.value from chosen
    join ${elementsOf(t, slot.units)} on ${cell(0)} = chosen.product_id and cast(${cell(1)} as bigint) = chosen.place
  ) as listed`;
  return (
    db
      .update(t.esims)
      .set({
        order_id: cell<OrderId>(2),
        line_id: cell<OrderLineId>(3),
        partner_id: cell<PartnerId>(4),
        environment: "production",
        assigned_at: slot.now,
      })
      // As above.
      .from(picked)
      .where(eq(id, sql`listed.id`))
      .returning({ id })
  );
});

/** The same for the lines of many orders, in their order; on PostgreSQL. */
async function assignAll(
  tx: Tx,
  needs: readonly (readonly [ProductId, number])[],
  lines: readonly Assignment[],
): Promise<void> {
  const last = new Map<ProductId, number>();
  const units = lines.flatMap(({ productId, orderId, lineId, partnerId, quantity }) => {
    const before = last.get(productId) ?? 0;
    last.set(productId, before + quantity);
    return Array.from({ length: quantity }, (_, at) => [productId, before + at + 1, orderId, lineId, partnerId]);
  });
  if (units.length === 0) return;
  const assigning = needs.map(([productId]) => [productId, last.get(productId) ?? 0]);
  const params = { needs: JSON.stringify(assigning), units: JSON.stringify(units), now: tx.now };
  requireAll(await assignUnits(tx, params), units.length);
}
