import { and, eq } from "drizzle-orm";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";

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
    .select({ holder: t.supplierHolds.holder })
    .from(t.supplierHolds)
    .where(and(eq(t.supplierHolds.supplier, slot.supplier), eq(t.supplierHolds.plan, slot.plan))),
);

const release = statement((db, t, slot: Slots<{ holder: string }>) =>
  db.delete(t.supplierHolds).where(eq(t.supplierHolds.holder, slot.holder)),
);

/**
 * Lets one purchase of a plan be under way and no other. False: another one is. A holder that has it keeps it.
 */
export async function takeHold(tx: Tx, hold: Hold): Promise<boolean> {
  await take(tx, { ...hold, since: tx.now });
  return first(await found(tx, hold))?.holder === hold.holder;
}

/** Ends what a purchase holds; most hold nothing. */
export async function releaseHold(tx: Tx, { holder }: Pick<Hold, "holder">): Promise<void> {
  await release(tx, { holder });
}
