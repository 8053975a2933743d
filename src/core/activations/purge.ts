import { and, inArray, isNotNull, lt } from "drizzle-orm";
import { recordAudit } from "../audit/record.ts";
import type { Purge } from "../passports/purge.ts";
import { noteErasure } from "../store/erasure.ts";
import { type Slots, statement } from "../store/statement.ts";

const clear = statement((db, t, slot: Slots<{ before: number; limit: number }>) =>
  db
    .update(t.activations)
    .set({ sealed: null, passport_index: null })
    .where(
      inArray(
        t.activations.id,
        db
          .select({ id: t.activations.id })
          .from(t.activations)
          .where(and(lt(t.activations.finished_at, slot.before), isNotNull(t.activations.sealed)))
          .orderBy(t.activations.finished_at, t.activations.id)
          .limit(slot.limit),
      ),
    )
    .returning({ id: t.activations.id, partner_id: t.activations.partner_id }),
);

/** Clears documents, SIM digits and PUKs of requests that ended before the moment; what became of them stays. */
export const purgeActivations: Purge = async (tx, { before, limit, actor }) => {
  const cleared = await clear(tx, { before, limit });
  for (const { id, partner_id: partnerId } of cleared) {
    await recordAudit(tx, { actor, action: "activations.purge", targetKind: "activation", targetId: id, partnerId });
  }
  if (cleared.length > 0) await noteErasure(tx);
  return cleared.length;
};
