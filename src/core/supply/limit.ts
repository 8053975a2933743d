import { and, eq } from "drizzle-orm";
import type { Row } from "../store/schema/tables.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";

/** One of a provider's limits: so much in each window. */
export interface Limit {
  /** E.g. `account`, `token`, `usage`. */
  bucket: string;
  most: number;
  windowMs: number;
}

type Bucket = Pick<Row<"supplierLimits">, "supplier" | "bucket">;

const found = statement((db, t, slot: Slots<Bucket>, dialect) =>
  dialect.lock(
    db
      .select()
      .from(t.supplierLimits)
      .where(and(eq(t.supplierLimits.supplier, slot.supplier), eq(t.supplierLimits.bucket, slot.bucket))),
    {},
  ),
);

const put = statement((db, t, slot: Slots<Row<"supplierLimits">>) =>
  db
    .insert(t.supplierLimits)
    .values({
      supplier: slot.supplier,
      bucket: slot.bucket,
      window_at: slot.window_at,
      used: slot.used,
      blocked_until: slot.blocked_until,
    })
    .onConflictDoUpdate({
      target: [t.supplierLimits.supplier, t.supplierLimits.bucket],
      set: { window_at: slot.window_at, used: slot.used, blocked_until: slot.blocked_until },
    }),
);

/**
 * Takes `cost` of a limit for all nodes together. Answers in how many ms it may be asked for again; 0: it was taken.
 */
export async function takeTurn(
  tx: Tx,
  { supplier, limit, cost }: { supplier: string; limit: Limit; cost: number },
): Promise<number> {
  const { bucket, most, windowMs } = limit;
  const row = first(await found(tx, { supplier, bucket }));
  if (row !== null && row.blocked_until > tx.now) return row.blocked_until - tx.now;
  const begins = row === null || tx.now >= row.window_at + windowMs || tx.now < row.window_at;
  const used = (begins ? 0 : row.used) + cost;
  if (!begins && used > most) return row.window_at + windowMs - tx.now;
  const window_at = begins ? tx.now : row.window_at;
  await put(tx, { supplier, bucket, window_at, used, blocked_until: 0 });
  return 0;
}

/** Lets nothing of a limit be taken for `waitMs`, since the provider asked for it. */
export async function blockTurns(
  tx: Tx,
  { supplier, limit, waitMs }: { supplier: string; limit: Limit; waitMs: number },
): Promise<void> {
  const { bucket, most } = limit;
  await put(tx, { supplier, bucket, window_at: tx.now, used: most, blocked_until: tx.now + waitMs });
}
