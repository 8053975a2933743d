import { and, inArray, lt, ne, notExists, sql } from "drizzle-orm";
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
    .returning({ id: t.events.id }),
);

/** Drops some of what is older than 90 days; answers how many rows, 0 when nothing is left to drop. */
export async function purgeStep(tx: Tx, _input: null): Promise<number> {
  const old = { before: firstUuidOf(tx.now - KEPT_DAYS * DAY_MS), limit: STEP };
  await dropTries(tx, old);
  const deliveries = await dropDeliveries(tx, old);
  const events = await dropEvents(tx, old);
  return deliveries.length + events.length;
}
