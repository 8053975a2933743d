import { and, eq, inArray, lt, ne, notExists, sql } from "drizzle-orm";
import type { PartnerId } from "../kernel/brand.ts";
import type { Environment } from "../kernel/environment.ts";
import { firstUuidOf } from "../kernel/ids.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";

/** Days that deliveries, held ones too, and their events are kept. */
export const KEPT_DAYS = 90;

const STEP = 500;
const DAY_MS = 86_400_000;

type Old = { before: string; limit: number };

const dropTries = statement((db, t, slot: Slots<Old>) =>
  db.delete(t.deliveryAttempts).where(
    inArray(
      t.deliveryAttempts.delivery_id,
      db
        .select({ id: t.deliveries.id })
        .from(t.deliveries)
        .where(and(lt(t.deliveries.id, slot.before), ne(t.deliveries.status, "pending")))
        .orderBy(t.deliveries.id)
        .limit(slot.limit),
    ),
  ),
);

const dropDeliveries = statement((db, t, slot: Slots<Old>) =>
  db
    .delete(t.deliveries)
    .where(
      inArray(
        t.deliveries.id,
        db
          .select({ id: t.deliveries.id })
          .from(t.deliveries)
          .where(and(lt(t.deliveries.id, slot.before), ne(t.deliveries.status, "pending")))
          .orderBy(t.deliveries.id)
          .limit(slot.limit),
      ),
    )
    .returning({ id: t.deliveries.id }),
);

const dropEvents = statement((db, t, slot: Slots<Old>) =>
  db
    .delete(t.events)
    .where(
      inArray(
        t.events.id,
        db
          .select({ id: t.events.id })
          .from(t.events)
          .where(
            and(
              lt(t.events.id, slot.before),
              notExists(
                db
                  .select({ id: t.deliveries.id })
                  .from(t.deliveries)
                  .where(sql`${t.deliveries.event_id} = ${t.events.id}`),
              ),
            ),
          )
          .orderBy(t.events.id)
          .limit(slot.limit),
      ),
    )
    .returning({ partner_id: t.events.partner_id, environment: t.events.environment, feed_no: t.events.feed_no }),
);

type Dropped = { partner_id: PartnerId; environment: Environment; feed_no: number };

const noteDropped = statement((db, t, slot: Slots<Dropped>) =>
  db
    .update(t.eventFeeds)
    .set({ dropped_no: slot.feed_no })
    .where(
      and(
        eq(t.eventFeeds.partner_id, slot.partner_id),
        eq(t.eventFeeds.environment, slot.environment),
        lt(t.eventFeeds.dropped_no, slot.feed_no),
      ),
    ),
);

/** Has feeds begin after what was dropped of them: cursors from before are expired. */
async function raiseDropped(tx: Tx, events: (Omit<Dropped, "feed_no"> & { feed_no: number | null })[]): Promise<void> {
  const highest = new Map<string, Dropped>();
  for (const { feed_no, ...feed } of events) {
    const key = `${feed.partner_id} ${feed.environment}`;
    if (feed_no === null || feed_no <= (highest.get(key)?.feed_no ?? 0)) continue;
    highest.set(key, { ...feed, feed_no });
  }
  for (const dropped of highest.values()) await noteDropped(tx, dropped);
}

/** Drops some of what is older than 90 days; answers how many rows, 0 when nothing is left to drop. */
export async function purgeStep(tx: Tx, _input: null): Promise<number> {
  const old = { before: firstUuidOf(tx.now - KEPT_DAYS * DAY_MS), limit: STEP };
  await dropTries(tx, old);
  const deliveries = await dropDeliveries(tx, old);
  const events = await dropEvents(tx, old);
  await raiseDropped(tx, events);
  return deliveries.length + events.length;
}
