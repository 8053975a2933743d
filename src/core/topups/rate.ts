import { and, desc, eq, lte } from "drizzle-orm";
import { isoTime } from "../kernel/clock.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";

type Pair = { from: string; to: string; day: string };

const newest = statement((db, t, slot: Slots<Pair>) =>
  db
    .select({ rate: t.fxRates.rate })
    .from(t.fxRates)
    .where(
      and(eq(t.fxRates.from_currency, slot.from), eq(t.fxRates.to_currency, slot.to), lte(t.fxRates.day, slot.day)),
    )
    .orderBy(desc(t.fxRates.day))
    .limit(1),
);

/** Units of `to` for one of `from` on this UTC day, as a decimal; null: no rate is known. */
export async function rateToday(q: Read, from: string, to: string): Promise<string | null> {
  if (from === to) return "1";
  return first(await newest(q, { from, to, day: isoTime(q.now).slice(0, 10) }))?.rate ?? null;
}
