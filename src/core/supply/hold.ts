import { and, eq } from "drizzle-orm";
import type { OrderItemId, TopupId } from "../kernel/brand.ts";
import { findByKey } from "../store/rows.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";

interface Hold {
  supplier: string;
  /** The plan as the supplier names it. */
  plan: string;
  /** The order item or top-up. */
  holder: string;
}

const take = statement((db, t, slot: Slots<Hold & { since: number }>) =>
  db
    .insert(t.supplierHolds)
    .values({ supplier: slot.supplier, plan: slot.plan, holder: slot.holder, since: slot.since })
    .onConflictDoNothing(),
);

const found = statement((db, t, slot: Slots<Pick<Hold, "supplier" | "plan">>) =>
  db
    .select({ holder: t.supplierHolds.holder, since: t.supplierHolds.since })
    .from(t.supplierHolds)
    .where(and(eq(t.supplierHolds.supplier, slot.supplier), eq(t.supplierHolds.plan, slot.plan))),
);

const release = statement((db, t, slot: Slots<{ holder: string }>) =>
  db.delete(t.supplierHolds).where(eq(t.supplierHolds.holder, slot.holder)),
);

/**
 * Lets one purchase of a plan be under way and no other. Null: it is this one; else since when (ms) another is. A
 * holder that has it keeps it; one that ended meanwhile, e.g. with its order, has it no more.
 */
export async function takeHold(tx: Tx, hold: Hold): Promise<number | null> {
  await take(tx, { ...hold, since: tx.now });
  const other = first(await found(tx, hold));
  if (other === null || other.holder === hold.holder) return null;
  if (await isUnderWay(tx, other.holder)) return other.since;
  await release(tx, { holder: other.holder });
  return takeHold(tx, hold);
}

async function isUnderWay(q: Read, holder: string): Promise<boolean> {
  // A holder is one of both.
  const item = await findByKey(q, "orderItems", { id: holder as OrderItemId });
  const topup = item === null ? await findByKey(q, "topups", { id: holder as TopupId }) : null;
  return ((item ?? topup)?.due_at ?? null) !== null;
}

/** Ends what a purchase holds; most hold nothing. */
export async function releaseHold(tx: Tx, { holder }: Pick<Hold, "holder">): Promise<void> {
  await release(tx, { holder });
}
