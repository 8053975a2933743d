import { sql } from "drizzle-orm";
import type { Owner } from "../kernel/owner.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";

type Read = { partner_id: Owner["partnerId"]; environment: Owner["environment"]; now: number };

const mark = statement((db, t, slot: Slots<Read>) => {
  const { partner_id, environment, read_at } = t.eventFeeds;
  const now = sql<number>`cast(${slot.now} as bigint)`;
  return db
    .insert(t.eventFeeds)
    .values({ partner_id: slot.partner_id, environment: slot.environment, last_no: 0, read_at: now })
    .onConflictDoUpdate({ target: [partner_id, environment], set: { read_at: sql`coalesce(${read_at}, ${now})` } });
});

/** Notes that a feed has a reader: from now on events about products are in it. Safe to repeat. */
export async function markFeedRead(tx: Tx, { partnerId: partner_id, environment }: Owner): Promise<void> {
  await mark(tx, { partner_id, environment, now: tx.now });
}
