import { timingSafeEqual } from "node:crypto";
import { eq } from "drizzle-orm";
import { isoTime } from "../kernel/clock.ts";
import type { Environment } from "../kernel/environment.ts";
import { notFound } from "../kernel/problem.ts";
import { requirePartner } from "../partners/partner.ts";
import { findByKey } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import type { Vault } from "../store/vault.ts";

/** A credential as the operator sees it in lists; its secret is never among the fields. */
export interface Credential {
  client_id: string;
  environment: Environment;
  scopes: string[];
  label: string | null;
  status: "active" | "revoked";
  created_at: string;
}

/** What creating or rotating answers: the only place where the secret appears. */
export interface IssuedCredential {
  client_id: string;
  client_secret: string;
  environment: Environment;
  scopes: string[];
  label: string | null;
  created_at: string;
}

/** A row without its secret. */
export function toCredential(row: Row<"credentials">): Credential {
  return {
    client_id: row.client_id,
    environment: row.environment,
    scopes: row.scopes,
    label: row.label,
    status: row.revoked_at === null ? "active" : "revoked",
    created_at: isoTime(row.created_at),
  };
}

/** The credential's row. Throws `not_found`. */
export async function requireCredential(q: Read, clientId: string): Promise<Row<"credentials">> {
  const row = await findByKey(q, "credentials", { client_id: clientId });
  if (row === null) throw notFound("credential", clientId);
  return row;
}

/** A fresh 256-bit secret, and the mark of it that is stored. */
export function newSecret(tx: Tx, clientId: string): { secret: string; mark: string } {
  const secret = tx.ids.bytes(32).toString("base64url");
  return { secret, mark: tx.vault.credentialMark(clientId, secret) };
}

/**
 * Whether `secret` is the one behind the stored mark of the client; the same time whether it is wrong or there is no
 * such client (null).
 */
export function secretMatches(vault: Vault, given: { clientId: string; secret: string }, mark: string | null): boolean {
  const found = Buffer.from(vault.credentialMark(given.clientId, given.secret));
  const wanted = Buffer.from(mark ?? "");
  // Of another length is only what was written in; it is compared all the same.
  const comparable = wanted.length === found.length ? wanted : Buffer.alloc(found.length);
  return timingSafeEqual(found, comparable) && mark !== null;
}

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
