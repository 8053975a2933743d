import { inArray, lt } from "drizzle-orm";
import { type Actor, recordAudit } from "../audit/record.ts";
import { civilDateAt } from "../kernel/civil-date.ts";
import { noteErasure } from "../store/erasure.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";

/** Which identity data is too old to be kept, and how much of it one transaction clears. */
export interface PurgeInput {
  /** What ended before this moment (ms). */
  before: number;
  limit: number;
  actor: Actor;
}

/** A command that clears at most `limit` old records and answers how many it cleared; 0: nothing is left. */
export type Purge = (tx: Tx, input: PurgeInput) => Promise<number>;

const withdrawn = statement((db, t, slot: Slots<{ before: number; limit: number }>) =>
  db
    .delete(t.passports)
    .where(
      inArray(
        t.passports.id,
        db
          .select({ id: t.passports.id })
          .from(t.passports)
          .where(lt(t.passports.withdrawn_at, slot.before))
          .orderBy(t.passports.withdrawn_at, t.passports.id)
          .limit(slot.limit),
      ),
    )
    .returning({ id: t.passports.id }),
);

const expired = statement((db, t, slot: Slots<{ before: string; limit: number }>) =>
  db
    .delete(t.passports)
    .where(
      inArray(
        t.passports.id,
        db
          .select({ id: t.passports.id })
          .from(t.passports)
          .where(lt(t.passports.passport_expiry, slot.before))
          .orderBy(t.passports.passport_expiry, t.passports.id)
          .limit(slot.limit),
      ),
    )
    .returning({ id: t.passports.id }),
);

/** Deletes passports withdrawn or expired before the moment. Their recorded uses hold no identity data and stay. */
export const purgePassports: Purge = async (tx, { before, limit, actor }) => {
  const gone = await withdrawn(tx, { before, limit });
  if (gone.length < limit) {
    gone.push(...(await expired(tx, { before: civilDateAt(before), limit: limit - gone.length })));
  }
  for (const { id } of gone) {
    await recordAudit(tx, { actor, action: "passports.purge", targetKind: "passport", targetId: id });
  }
  if (gone.length > 0) await noteErasure(tx);
  return gone.length;
};
