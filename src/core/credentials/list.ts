import { eq } from "drizzle-orm";
import { requirePartner } from "../partners/partner.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { type Credential, toCredential } from "./credential.ts";

const ofPartner = statement((db, t, slot: Slots<{ partner_id: string }>) =>
  db
    .select()
    .from(t.credentials)
    .where(eq(t.credentials.partner_id, slot.partner_id))
    .orderBy(t.credentials.created_at, t.credentials.client_id),
);

/** A partner's credentials, oldest first, revoked ones too. Throws `not_found` for the partner. */
export async function listCredentials(q: Read, slug: string): Promise<Credential[]> {
  const partner = await requirePartner(q, slug);
  return (await ofPartner(q, { partner_id: partner.id })).map(toCredential);
}
