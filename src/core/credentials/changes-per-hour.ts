import { and, desc, eq, gt, inArray, like } from "drizzle-orm";
import type { PartnerId } from "../kernel/brand.ts";
import { Problem } from "../kernel/problem.ts";
import { auditChain } from "../store/sealing/chain.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";

/** Creations and deletions by a partner's own credentials in an hour: each new one has limits of its own. */
const MOST_CHANGES = 30;
const HOUR_MS = 3_600_000;

const changes = statement((db, t, slot: Slots<{ chain: string; after: number; limit: number }>) =>
  db
    .select({ at: t.auditEntries.at })
    .from(t.auditEntries)
    .where(
      and(
        eq(t.auditEntries.chain, slot.chain),
        gt(t.auditEntries.at, slot.after),
        inArray(t.auditEntries.action, ["credentials.create", "credentials.revoke"]),
        // Operators are not limited.
        like(t.auditEntries.actor, "client:%"),
      ),
    )
    .orderBy(desc(t.auditEntries.at))
    .limit(slot.limit),
);

/** Throws `rate_limit_exceeded` after 30 creations and deletions in an hour, over both environments. */
export async function refuseManyChanges(q: Read, partnerId: PartnerId): Promise<void> {
  const recent = await changes(q, { chain: auditChain(partnerId), after: q.now - HOUR_MS, limit: MOST_CHANGES });
  const earliest = recent[MOST_CHANGES - 1];
  if (earliest === undefined) return;
  const seconds = Math.max(1, Math.ceil((earliest.at + HOUR_MS - q.now) / 1000));
  const words = `More than ${MOST_CHANGES} credentials were created and deleted in an hour. Wait ${seconds} seconds.`;
  throw new Problem("rate_limit_exceeded", words, { members: { limit: MOST_CHANGES, retry_after_seconds: seconds } });
}
