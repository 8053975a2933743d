import { and, eq, sql } from "drizzle-orm";
import type { ProductId } from "../kernel/brand.ts";
import { together } from "../kernel/together.ts";
import { loader, putOff, RetryBatch } from "../store/batch-context.ts";
import { findByKey, lockRows } from "../store/rows.ts";
import { first, isListed, listOf, numberAt, type Slots, statement } from "../store/statement.ts";
import type { ClaimedUnit, Read, StockClaim, Tx } from "../store/store.ts";

/** A product of which the stock holds too few. */
export interface Shortage {
  sku: string;
  needed: number;
  available: number;
}

/** So many eSIMs of one product. */
export interface Need {
  productId: ProductId;
  sku: string;
  quantity: number;
}

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

const freeOf = statement((db, t, slot: Slots<{ ids: string }>, dialect) => {
  const { product_id, available } = t.stockPools;
  return db
    .select({ product_id, available })
    .from(t.stockPools)
    .where(isListed(dialect, product_id, slot.ids));
});

const lockFree = statement((db, t, slot: Slots<{ id: ProductId }>, dialect) => {
  const { product_id, available } = t.stockPools;
  return dialect.lock(db.select({ available }).from(t.stockPools).where(eq(product_id, slot.id)), {});
});

/** What is free of products, for what takes of it. A batch looks first and takes at its end: its locks are brief. */
export const stockPools = loader<ProductId, number>({
  async loadMany(q, ids) {
    const found = new Map((await freeOf(q, { ids: listOf(ids) })).map((row) => [row.product_id, row.available]));
    return ids.map((id) => found.get(id) ?? 0);
  },
  loadOne: async (q, id) => first(await lockFree(q, { id }))?.available ?? 0,
});

/**
 * Reserves everything or nothing; the result is whether it did. The pools stay locked until the commit: orders of other
 * partners may be written meanwhile, and wait for them. All take them in one order.
 */
export async function reserveAll(tx: Tx, needs: Need[]): Promise<boolean> {
  const wanted = merged(needs).sort((a, b) => (a.productId < b.productId ? -1 : 1));
  const left = new Map<ProductId, number>();
  for (const { productId, quantity } of wanted) left.set(productId, (await stockPools.get(tx, productId)) - quantity);
  if ([...left.values()].some((rest) => rest < 0)) return false;
  for (const need of wanted) await putOff(tx, { kind: "pools", row: need, write: (taken) => take(tx, taken) });
  for (const [productId, rest] of left) stockPools.set(tx, productId, rest);
  return true;
}

const takeEach = statement((db, t, slot: Slots<{ needs: string }>, dialect) => {
  const { product_id, available } = t.stockPools;
  return (
    db
      .update(t.stockPools)
      .set({ available: sql`${available} - ${numberAt(1)}` })
      // Its type expects a table.
      .from(dialect.listed(slot.needs))
      .where(and(dialect.joined(product_id, slot.needs), sql`${available} >= ${numberAt(1)}`))
      .returning({ product_id })
  );
});

/** Throws `RetryBatch` where others have taken since what was free. */
async function take(tx: Tx, needs: readonly Need[]): Promise<void> {
  const taken = merged(needs);
  const [, took] = await together(
    lockRows(
      tx,
      "stockPools",
      taken.map(({ productId }) => productId),
    ),
    takeEach(tx, { needs: JSON.stringify(taken.map(({ productId, quantity }) => [productId, quantity])) }),
  );
  if (took.length !== taken.length) throw new RetryBatch("others have taken of the stock of a product");
}

/** The same; returns what was short, and then nothing was reserved. */
export async function reserveStock(tx: Tx, needs: Need[]): Promise<Shortage[]> {
  return (await reserveAll(tx, needs)) ? [] : shortages(tx, needs);
}

/** Makes `quantity` more eSIMs of a product available: new ones, or ones given back. */
export async function addToPool(tx: Tx, productId: ProductId, quantity: number): Promise<void> {
  if (quantity > 0) await give(tx, { product_id: productId, quantity });
}

/** Units of the stock for a line, and what one of them costs where the unit itself does not say; null: not known. */
export interface StockSale extends StockClaim {
  cost: number | null;
  cost_currency: string | null;
}

/** Posts what units cost that were handed out. */
export type PostUnits = (tx: Tx, sales: readonly StockSale[], units: readonly ClaimedUnit[]) => Promise<void>;

/** Hands reserved eSIMs of the stock to an order line, oldest first, at the end of a batch; then `post` gets them. */
export function assignFromStock(tx: Tx, claim: Omit<StockSale, "at">, post: PostUnits): Promise<void> {
  const write = async (claims: readonly StockSale[]) => {
    const wanted = claims.reduce((sum, { quantity }) => sum + quantity, 0);
    const units = await tx.dialect.claim(tx, claims);
    // Each write chooses no more than was reserved for its order: there are always enough.
    if (units.length !== wanted) throw new Error("the stock holds fewer eSIMs than its pool says");
    await post(tx, claims, units);
  };
  // After the pools, by whose locks writes side by side choose one after the other.
  return putOff(tx, { kind: "reserved eSIMs", row: { ...claim, at: tx.now }, write });
}

function merged(needs: readonly Need[]): Need[] {
  const byProduct = new Map<ProductId, Need>();
  for (const need of needs) {
    const known = byProduct.get(need.productId);
    byProduct.set(need.productId, { ...need, quantity: need.quantity + (known?.quantity ?? 0) });
  }
  return [...byProduct.values()];
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
