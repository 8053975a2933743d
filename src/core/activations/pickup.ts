import { and, eq, inArray, isNull, lte, sql } from "drizzle-orm";
import type { Environment } from "../kernel/environment.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { sydneyToday } from "./calendar.ts";
import { announceStep, progressActivation } from "./states.ts";

// Must match the partial index predicate exactly.
const pending = sql`status = 'pending'`;

/** Some requests of one environment. */
interface Batch {
  environment: Environment;
  limit: number;
}

const comeDue = statement((db, t, slot: Slots<Batch & { today: string }>) =>
  db
    .update(t.activations)
    .set({ due_at: t.activations.not_before })
    .where(
      inArray(
        t.activations.id,
        db
          .select({ id: t.activations.id })
          .from(t.activations)
          .where(
            and(
              pending,
              eq(t.activations.environment, slot.environment),
              isNull(t.activations.due_at),
              lte(t.activations.activation_date, slot.today),
            ),
          )
          .orderBy(t.activations.activation_date, t.activations.id)
          .limit(slot.limit),
      ),
    )
    .returning({ id: t.activations.id }),
);

/**
 * The calendar run: scheduled requests whose date has come in Sydney become due, at most `limit` of them, oldest date
 * first. Whatever was missed while nothing ran is found by the next run. Answers how many.
 */
export async function releaseScheduled(tx: Tx, input: Batch): Promise<number> {
  const released = await comeDue(tx, { ...input, today: sydneyToday(tx.now) });
  if (released.length > 0) tx.signal("activations");
  return released.length;
}

const pendingDue = statement((db, t, slot: Slots<Batch & { now: number }>) =>
  db
    .select()
    .from(t.activations)
    .where(and(pending, eq(t.activations.environment, slot.environment), lte(t.activations.due_at, slot.now)))
    .orderBy(t.activations.due_at, t.activations.activation_date, t.activations.id)
    .limit(slot.limit),
);

/** Whether any request of the environment is due to be picked up. */
export async function isPickupDue(q: Read, environment: Environment): Promise<boolean> {
  return (await pendingDue(q, { environment, now: q.now, limit: 1 })).length > 0;
}

/**
 * Takes due requests out of their partners' hands: from here on they are processing, can no longer be edited or
 * cancelled, and say so (contract: activation.submitted). What follows is the exchange with the carrier. Answers how
 * many, at most `limit`.
 */
export async function pickUpDue(tx: Tx, input: Batch): Promise<number> {
  const rows = await pendingDue(tx, { ...input, now: tx.now });
  for (const row of rows) {
    const picked = await progressActivation(tx, row, {
      state: "processing",
      due_at: tx.now,
      queued_at: tx.now,
      submitted_at: tx.now,
    });
    await announceStep(tx, "submitted", picked);
  }
  return rows.length;
}
