import { eq } from "drizzle-orm";
import { type Actor, recordAudit } from "../audit/record.ts";
import type { PassportId } from "../kernel/brand.ts";
import { unindexRecord } from "../store/sealing/people.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";
import { noteErasure } from "../store/stored-value.ts";
import { clearEvents } from "../webhooks/clear-events.ts";
import type { PassportRow } from "./passport.ts";

const remove = statement((db, t, slot: Slots<{ id: PassportId }>) =>
  db.delete(t.passports).where(eq(t.passports.id, slot.id)),
);

/**
 * Deletes a passport, in its pool or withdrawn, and clears its events, which name its country and expiry. Its recorded
 * uses hold no identity data and stay.
 */
export async function deletePassport(
  tx: Tx,
  row: PassportRow,
  { actor, verb }: { actor: Actor; verb: "purge" | "erase" },
): Promise<void> {
  await remove(tx, { id: row.id });
  await clearEvents(tx, row.id);
  await unindexRecord(tx, row.id);
  await noteErasure(tx);
  const target = { targetKind: "passport", targetId: row.id, partnerId: row.partner_id };
  await recordAudit(tx, { actor, action: `passports.${verb}`, ...target });
}
