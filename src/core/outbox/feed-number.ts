import { sql } from "drizzle-orm";
import type { PartnerId } from "../kernel/brand.ts";
import type { Environment } from "../kernel/environment.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";

type Feed = { partner_id: PartnerId; environment: Environment };

const raise = statement((db, t, slot: Slots<Feed>) =>
  db
    .insert(t.eventFeeds)
    .values({ partner_id: slot.partner_id, environment: slot.environment, last_no: 1, dropped_no: 0 })
    .onConflictDoUpdate({
      target: [t.eventFeeds.partner_id, t.eventFeeds.environment],
      set: { last_no: sql`${t.eventFeeds.last_no} + 1` },
    })
    .returning({ no: t.eventFeeds.last_no }),
);

/**
 * The next number of a feed. The feed's row stays locked until the transaction is visible to readers or rolled back,
 * so that numbers become visible in their order and without gaps (docs/decisions/0044).
 */
export async function nextFeedNumber(tx: Tx, feed: Feed): Promise<number> {
  const [raised] = await raise(tx, feed);
  if (raised === undefined) throw new Error("the row of the event feed was not returned");
  return raised.no;
}
