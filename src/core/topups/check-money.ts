import { sql } from "drizzle-orm";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";

/** What the list of disagreements names at most. */
const MOST = 100;

const wrong = statement((db, t, slot: Slots<{ limit: number }>) => {
  const { ledgerTransactions: rows, topups } = t;
  const sumOf = (kind: "topup" | "refund") =>
    sql<number>`sum(case when ${rows.kind} = ${sql.raw(`'${kind}'`)} then ${rows.amount_cents} else 0 end)`;
  const moved = db
    .select({
      reference: rows.reference,
      paid: sumOf("topup").as("paid"),
      refunded: sumOf("refund").as("refunded"),
      owner: sql<string>`min(${rows.partner_id})`.as("owner"),
    })
    .from(rows)
    .where(sql`${rows.kind} in ('topup', 'refund') and ${rows.order_id} is null`)
    .groupBy(rows.reference)
    .as("moved");
  return db
    .select({ id: sql<string>`coalesce(${topups.id}, ${moved.reference})` })
    .from(topups)
    .fullJoin(moved, sql`${moved.reference} = ${topups.id}`)
    .where(
      sql`${topups.id} is null or ${topups.environment} = 'production' and (
        coalesce(${moved.paid}, 0) <> ${topups.price_cents}
        or coalesce(${moved.refunded}, 0) <> case when ${topups.status} = 'failed' then ${topups.price_cents} else 0 end
        or ${moved.owner} <> ${topups.partner_id})`,
    )
    .limit(slot.limit);
});

/** The IDs of top-ups of production whose price, refund or owner is not that of their transactions, at most 100. */
export async function checkTopupMoney(q: Read): Promise<string[]> {
  return (await wrong(q, { limit: MOST })).map(({ id }) => id);
}
