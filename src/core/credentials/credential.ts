import { eq } from "drizzle-orm";
import { isoTime, isoTimeOrNull } from "../kernel/clock.ts";
import type { Environment } from "../kernel/environment.ts";
import { notFound } from "../kernel/problem.ts";
import { endOfDay, spendingOf, spentOf } from "../orders/spend.ts";
import { requirePartner } from "../partners/partner.ts";
import { capsIn } from "../platform/spend-caps.ts";
import { findByKey } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import type { SpendCap } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";

/** A credential as the operator sees it in lists; its secret is never among the fields. */
export interface Credential {
  client_id: string;
  environment: Environment;
  scopes: string[];
  label: string | null;
  status: CredentialStatus;
  guard_rails: GuardRails;
  /** Whether it may handle identities: a guard rail too. */
  identity: boolean;
  created_at: string;
}

export type CredentialStatus = "active" | "revoked" | "expired";

/** What restricts a credential; where it has another's guard rails, those. */
export interface GuardRails {
  /** Networks that it may be used from, in CIDR notation; null: any. */
  addresses: string[] | null;
  expires_at: string | null;
  /** What its orders may cost: decimals in the currency's own units. Empty: any amount. */
  spend_caps: SpendCap[];
  /** What counts against the caps per day: minor units. */
  spent_today: { currency: string; spent_cents: number; cap_cents: number | null; resets_at: string }[];
  /** The credential whose guard rails these are; null: its own. */
  guarded_by: string | null;
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

type CredentialRow = Row<"credentials">;

/** The row whose guard rails hold for a credential: its own, or that of the one that guards it. */
export async function railsOf(q: Read, row: CredentialRow): Promise<CredentialRow> {
  if (row.guarded_by === null) return row;
  return requireCredential(q, row.guarded_by);
}

/** Whether anything restricts the credential whose row of guard rails this is. */
export function hasRails({ allowed_addresses, expires_at, spend_caps, no_identity }: CredentialRow): boolean {
  return allowed_addresses !== null || expires_at !== null || spend_caps !== null || no_identity;
}

/** A row without its secret, with what restricts it. */
export async function toCredential(q: Read, row: CredentialRow): Promise<Credential> {
  const rails = await railsOf(q, row);
  return {
    client_id: row.client_id,
    environment: row.environment,
    scopes: row.scopes,
    label: row.label,
    status: statusOf(row, rails, q.now),
    guard_rails: await guardRailsOf(q, row, rails),
    identity: !rails.no_identity,
    created_at: isoTime(row.created_at),
  };
}

function statusOf(row: CredentialRow, { expires_at }: CredentialRow, now: number): CredentialStatus {
  if (row.revoked_at !== null) return "revoked";
  return expires_at !== null && expires_at <= now ? "expired" : "active";
}

async function guardRailsOf(q: Read, row: CredentialRow, rails: CredentialRow): Promise<GuardRails> {
  const caps = rails.spend_caps ?? [];
  const counted =
    caps.length === 0 ? [] : await spendingOf(q, { client_id: rails.client_id, environment: row.environment });
  return {
    addresses: rails.allowed_addresses,
    expires_at: isoTimeOrNull(rails.expires_at),
    spend_caps: caps,
    spent_today: counted.map((one) => {
      const { day, cents } = spentOf(one, q.now);
      const { perDay: cap_cents } = capsIn(caps, one.currency);
      return { currency: one.currency, spent_cents: cents, cap_cents, resets_at: endOfDay(day) };
    }),
    guarded_by: row.guarded_by,
  };
}

/** The credential's row. Throws `not_found`. */
export async function requireCredential(q: Read, clientId: string): Promise<Row<"credentials">> {
  const row = await findByKey(q, "credentials", { client_id: clientId });
  if (row === null) throw notFound("credential", clientId);
  return row;
}

/** One credential, without its secret. Throws `not_found`. */
export async function showCredential(q: Read, clientId: string): Promise<Credential> {
  return toCredential(q, await requireCredential(q, clientId));
}

/** A fresh 256-bit secret, and the mark of it that is stored. */
export function newSecret(tx: Tx, clientId: string): { secret: string; mark: string } {
  const secret = tx.ids.bytes(32).toString("base64url");
  return { secret, mark: tx.vault.credentialMark(clientId, secret) };
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
  const listed: Credential[] = [];
  for (const row of await ofPartner(q, { partner_id: partner.id })) listed.push(await toCredential(q, row));
  return listed;
}
