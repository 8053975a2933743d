import { and, eq, inArray, lt, type SQLWrapper, sql } from "drizzle-orm";
import { recordAudit } from "../audit/record.ts";
import type { OrderId } from "../kernel/brand.ts";
import { isoTime } from "../kernel/clock.ts";
import { counted } from "../kernel/counted.ts";
import { firstUuidOf } from "../kernel/ids.ts";
import { readSetting } from "../platform/settings.ts";
import type { Tables } from "../store/schema/tables.ts";
import { unindexRecord } from "../store/sealing/people.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Db, Tx } from "../store/store.ts";
import { linesOfOrder } from "./order.ts";

/** Days that sandbox orders are kept unless the operator sets another number. */
export const SANDBOX_DAYS = 90;

const DAY_MS = 86_400_000;
/** Rows that one transaction deletes at most. */
const STEP = 500;

const oldest = statement((db, t, slot: Slots<{ before: string }>) =>
  db
    .select({ id: t.orders.id })
    .from(t.orders)
    // Must match the partial index predicate exactly. The id has the system's time, whatever the sandbox clock said.
    .where(and(sql`environment = 'sandbox'`, lt(t.orders.id, slot.before)))
    .orderBy(t.orders.id)
    .limit(1),
);

/** Deletes the rows whose ids `choose` selects; answers these. */
function deletion<P extends object>(
  name: "deliveryAttempts" | "deliveries" | "events" | "itemAttempts" | "orderItems" | "topups" | "esims",
  choose: (db: Db, t: Tables, slot: Slots<P>) => SQLWrapper,
) {
  return statement((db, t, slot: Slots<P>) => {
    // Each of these tables has an `id` of text; drizzle's types need one table.
    const table = t[name] as Tables["events"];
    return db
      .delete(table)
      .where(inArray(table.id, choose(db, t, slot)))
      .returning({ id: table.id });
  });
}

interface OfOrder {
  order_id: OrderId;
  limit: number;
}

/** Deletes some of what belongs to an order, in this order: a row goes before the one that it refers to. */
const belongings = [
  deletion<OfOrder>("deliveryAttempts", (db, t, slot) =>
    db
      .select({ id: t.deliveryAttempts.id })
      .from(t.events)
      .innerJoin(t.deliveries, eq(t.deliveries.event_id, t.events.id))
      .innerJoin(t.deliveryAttempts, eq(t.deliveryAttempts.delivery_id, t.deliveries.id))
      .where(eq(t.events.subject_id, slot.order_id))
      .limit(slot.limit),
  ),
  deletion<OfOrder>("deliveries", (db, t, slot) =>
    db
      .select({ id: t.deliveries.id })
      .from(t.events)
      .innerJoin(t.deliveries, eq(t.deliveries.event_id, t.events.id))
      .where(eq(t.events.subject_id, slot.order_id))
      .limit(slot.limit),
  ),
  deletion<OfOrder>("events", (db, t, slot) =>
    db.select({ id: t.events.id }).from(t.events).where(eq(t.events.subject_id, slot.order_id)).limit(slot.limit),
  ),
  deletion<OfOrder>("itemAttempts", (db, t, slot) =>
    db
      .select({ id: t.itemAttempts.id })
      .from(t.orderItems)
      .innerJoin(t.itemAttempts, eq(t.itemAttempts.item_id, t.orderItems.id))
      .where(eq(t.orderItems.order_id, slot.order_id))
      .limit(slot.limit),
  ),
  statement((db, t, slot: Slots<OfOrder>) =>
    db
      .delete(t.peopleIndex)
      .where(
        sql`(${t.peopleIndex.digest}, ${t.peopleIndex.record_id}) in (
          select named.digest, named.record_id from ${t.peopleIndex} as named where named.record_id in (
            select ${t.orderItems.id} from ${t.orderItems} where ${t.orderItems.order_id} = ${slot.order_id}
          ) limit ${slot.limit})`,
      )
      .returning({ id: t.peopleIndex.record_id }),
  ),
  deletion<OfOrder>("orderItems", (db, t, slot) =>
    db
      .select({ id: t.orderItems.id })
      .from(t.orderItems)
      .where(eq(t.orderItems.order_id, slot.order_id))
      .limit(slot.limit),
  ),
  deletion<OfOrder>("topups", (db, t, slot) =>
    db
      .select({ id: t.topups.id })
      .from(t.esims)
      .innerJoin(t.topups, eq(t.topups.esim_id, t.esims.id))
      .where(eq(t.esims.order_id, slot.order_id))
      .limit(slot.limit),
  ),
];

const lines = statement((db, t, slot: Slots<{ order_id: OrderId }>) =>
  db.delete(t.orderLines).where(eq(t.orderLines.order_id, slot.order_id)),
);

const keys = statement((db, t, slot: Slots<{ order_id: OrderId }>) =>
  db.delete(t.idempotencyKeys).where(eq(t.idempotencyKeys.order_id, slot.order_id)),
);

const order = statement((db, t, slot: Slots<{ order_id: OrderId }>) =>
  db.delete(t.orders).where(eq(t.orders.id, slot.order_id)),
);

/** eSIMs are never older than their order: where no older order is left, these belong to none. */
const esims = deletion<{ before: string; limit: number }>("esims", (db, t, slot) =>
  db
    .select({ id: t.esims.id })
    .from(t.esims)
    // Must match the partial index predicate exactly.
    .where(and(sql`environment = 'sandbox'`, lt(t.esims.id, slot.before)))
    .orderBy(t.esims.id)
    .limit(slot.limit),
);

/** What one step deleted; no rows: nothing is left to purge. */
export interface PurgedStep {
  orders: number;
  rows: number;
}

/**
 * Deletes some sandbox orders that are older than the operator keeps them, oldest first, with their items, events,
 * deliveries, keys, top-ups and eSIMs: at most 500 rows. The audit trail says how many. Safe to repeat.
 */
export async function purgeSandboxStep(tx: Tx, _input: null): Promise<PurgedStep> {
  const days = Number((await readSetting(tx, "sandbox_days")) ?? SANDBOX_DAYS);
  const since = tx.now - days * DAY_MS;
  const before = firstUuidOf(since);
  let room = STEP;
  let orders = 0;
  for (let next = first(await oldest(tx, { before })); next !== null; next = first(await oldest(tx, { before }))) {
    const { rows, gone } = await purgeOrder(tx, next.id, room);
    room -= rows;
    if (!gone) return recorded(tx, { orders, rows: STEP - room }, since);
    orders += 1;
  }
  if (room > 0) room -= (await esims(tx, { before, limit: room })).length;
  return recorded(tx, { orders, rows: STEP - room }, since);
}

/** Deletes at most `room` rows of an order; `gone` says whether it was all. */
async function purgeOrder(tx: Tx, order_id: OrderId, room: number): Promise<{ rows: number; gone: boolean }> {
  let rows = 0;
  for (const remove of belongings) {
    if (rows === room) return { rows, gone: false };
    rows += (await remove(tx, { order_id, limit: room - rows })).length;
  }
  // With the order itself and its key.
  const last = (await linesOfOrder(tx, order_id)).length + 2;
  if (last > room - rows) return { rows, gone: false };
  await lines(tx, { order_id });
  await keys(tx, { order_id });
  await unindexRecord(tx, order_id);
  await order(tx, { order_id });
  return { rows: rows + last, gone: true };
}

async function recorded(tx: Tx, step: PurgedStep, since: number): Promise<PurgedStep> {
  if (step.orders === 0) return step;
  // Kept responses may hold what was purged.
  await tx.touch();
  const note = `${counted(step.orders, "sandbox order")} from before ${isoTime(since)}`;
  const purged = { action: "orders.purge", targetKind: "orders", targetId: "sandbox", note };
  await recordAudit(tx, { actor: "worker", ...purged });
  return step;
}
