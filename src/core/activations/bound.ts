import { and, count, eq, sql } from "drizzle-orm";
import type { Owner } from "../kernel/owner.ts";
import { Problem } from "../kernel/problem.ts";
import type { PartnerLimits } from "../platform/partner-limits.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";

const openOf = statement((db, t, slot: Slots<Owner>) =>
  db
    .select({ open: count() })
    .from(t.activations)
    .where(
      and(
        eq(t.activations.partner_id, slot.partnerId),
        eq(t.activations.environment, slot.environment),
        // Must match the partial index predicate exactly.
        sql`(status in ('pending', 'processing') or processing_status = 'manual_required')`,
      ),
    ),
);

interface Asked {
  limits: PartnerLimits;
  /** One of the open requests is cancelled for the new one. */
  replaced: boolean;
}

/**
 * Throws `too_many_activations` unless the owner may have one more open request: pending, with the carrier, or left to
 * staff.
 */
export async function requireRoom(q: Read, owner: Owner, { limits, replaced }: Asked): Promise<void> {
  const { partnerId, environment } = owner;
  const limit = environment === "sandbox" ? limits.max_sandbox_activations : limits.max_open_activations;
  if (limit === null) return;
  const open = first(await openOf(q, { partnerId, environment }))?.open ?? 0;
  if (open - (replaced ? 1 : 0) < limit) return;
  const words = `At most ${limit} activation requests may be open in ${environment}.`;
  throw new Problem("too_many_activations", words, { members: { limit } });
}
