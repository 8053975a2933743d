import { type Actor, recordAudit } from "../audit/record.ts";
import type { PassportId } from "../kernel/brand.ts";
import type { Identity } from "../kernel/identity.ts";
import { Secret } from "../kernel/secret.ts";
import type { Tx } from "../store/store.ts";
import { openPassport, requirePassport } from "./passport.ts";

/** The whole identity of a passport of any pool; the reading is in the audit trail. Throws `not_found`. */
export async function revealPassport(tx: Tx, input: { id: PassportId; actor: Actor }): Promise<Secret<Identity>> {
  const row = await requirePassport(tx, input.id);
  const { reference, ...identity } = openPassport(tx, row);
  await recordAudit(tx, {
    actor: input.actor,
    action: "passports.reveal",
    targetKind: "passport",
    targetId: row.id,
    partnerId: row.partner_id,
    fields: Object.keys(identity),
  });
  return new Secret(identity);
}
