import { and, asc, count, eq, gte, lte, sql } from "drizzle-orm";
import type { Owner } from "../kernel/owner.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";

/** The first and the last activation date, YYYY-MM-DD. */
interface Days {
  from: string;
  to: string;
}

/** How many requests a day has, and how many of them can still be moved or cancelled. */
export interface DayOfActivations {
  date: string;
  requests: number;
  pending: number;
}

const counts = statement((db, t, slot: Slots<Owner & Days>) =>
  db
    .select({
      date: t.activations.activation_date,
      requests: count(),
      pending: sql<number>`count(*) filter (where ${t.activations.status} = 'pending')`.mapWith(Number),
    })
    .from(t.activations)
    .where(
      and(
        eq(t.activations.partner_id, slot.partnerId),
        eq(t.activations.environment, slot.environment),
        gte(t.activations.activation_date, slot.from),
        lte(t.activations.activation_date, slot.to),
      ),
    )
    .groupBy(t.activations.activation_date)
    .orderBy(asc(t.activations.activation_date)),
);

/** The days of a range that have requests of the owner's, the first one first. */
export function activationsByDay(
  q: Read,
  { partnerId, environment, from, to }: Owner & Days,
): Promise<DayOfActivations[]> {
  return counts(q, { partnerId, environment, from, to });
}
