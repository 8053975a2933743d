import { and, eq, gte } from "drizzle-orm";
import { isListed, listOf, type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";

/** How far back look-ups of providers go at most (ms). */
const LOOKED_AT_MS = 7 * 24 * 3_600_000;

const bought = statement((db, t, slot: Slots<{ supplier: string; since: number; references: string }>, dialect) =>
  db
    .select({ reference: t.costs.reference })
    .from(t.costs)
    .where(
      and(
        eq(t.costs.supplier, slot.supplier),
        gte(t.costs.created_at, slot.since),
        isListed(dialect, t.costs.reference, slot.references),
      ),
    ),
);

/** Which of these orders of a supplier are known as those of purchases that were made. */
export async function knownPurchases(
  q: Read,
  { supplier, references }: { supplier: string; references: readonly string[] },
): Promise<ReadonlySet<string>> {
  const rows = await bought(q, { supplier, since: q.now - LOOKED_AT_MS, references: listOf(references) });
  return new Set(rows.flatMap(({ reference }) => reference ?? []));
}
