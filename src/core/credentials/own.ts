import { and, desc, eq, gt, inArray, like, sql } from "drizzle-orm";
import type { Actor } from "../audit/record.ts";
import type { PartnerId } from "../kernel/brand.ts";
import { isoTimeOrNull } from "../kernel/clock.ts";
import { counted } from "../kernel/counted.ts";
import type { Environment } from "../kernel/environment.ts";
import type { Owner } from "../kernel/owner.ts";
import { newestFirst, type Pagination, pageOf } from "../kernel/page.ts";
import { notFound, Problem } from "../kernel/problem.ts";
import { partnerById } from "../partners/partner.ts";
import type { Row } from "../store/schema/tables.ts";
import { auditChain } from "../store/sealing/chain.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { createCredential } from "./create.ts";
import {
  type Credential,
  hasRails,
  type IssuedCredential,
  railsOf,
  requireCredential,
  toCredential,
} from "./credential.ts";
import { revokeCredential } from "./revoke.ts";
import { rotateCredential } from "./rotate.ts";
import { scopes as allScopes, isScope, type Scope } from "./scopes.ts";

type CredentialRow = Row<"credentials">;

/** Who manages the credentials of a partner: itself, by a token with all scopes. */
export interface Manager {
  owner: Owner;
  /** The client ID of the token; null: an operator acts in the partner's name. */
  credential: string | null;
  actor: Actor;
}

/** A partner's own credential as the API shows it. */
export interface OwnCredential extends Omit<Credential, "label" | "scopes"> {
  scopes: Scope[];
  description: string | null;
  rotated_at: string | null;
}

/** The same with its secret, which is shown this once. */
export interface OwnSecret extends OwnCredential {
  client_secret: string;
}

/** Active credentials that a partner may have in one environment: each has a rate limit of its own. */
const MOST_ACTIVE = 100;

const ofPartner = statement((db, t, slot: Slots<{ partner_id: PartnerId }>) =>
  db
    .select()
    .from(t.credentials)
    .where(eq(t.credentials.partner_id, slot.partner_id))
    .orderBy(t.credentials.created_at, t.credentials.client_id),
);

type Window = Owner & { key: number; id: string; limit: number };

// A partner has few credentials: the environment is looked at on the way through its part of the index. A token of
// production sees those of the sandbox too.
const newest = statement((db, t, slot: Slots<Window>) =>
  db
    .select()
    .from(t.credentials)
    .where(
      and(
        eq(t.credentials.partner_id, slot.partnerId),
        sql`${slot.environment} in (${t.credentials.environment}, 'production')`,
        sql`(${t.credentials.created_at}, ${t.credentials.client_id}) < (${slot.key}, ${slot.id})`,
      ),
    )
    .orderBy(desc(t.credentials.created_at), desc(t.credentials.client_id))
    .limit(slot.limit),
);

/** Which credentials of the caller are listed: those that its token manages. */
export interface OwnFilter {
  owner: Owner;
  limit: number;
  cursor?: string | undefined;
}

/** A page of the caller's credentials, newest first, revoked ones too. Throws `invalid_cursor`. */
export async function listOwnCredentials(
  q: Read,
  { owner, limit, cursor }: OwnFilter,
): Promise<{ data: OwnCredential[]; pagination: Pagination }> {
  const { rows, pagination } = await pageOf(
    { limit, cursor, binding: { list: "credentials", ...owner }, start: newestFirst },
    (window) => newest(q, { ...owner, ...window }),
    ({ created_at: key, client_id: id }) => ({ key, id }),
  );
  const data: OwnCredential[] = [];
  for (const row of rows) data.push(await toOwn(q, row));
  return { data, pagination };
}

async function toOwn(q: Read, row: CredentialRow): Promise<OwnCredential> {
  const { label: description, scopes, ...shown } = await toCredential(q, row);
  return { ...shown, scopes: scopes.filter(isScope), description, rotated_at: isoTimeOrNull(row.rotated_at) };
}

/** A credential that a partner creates for itself. */
export interface NewOwnCredential {
  manager: Manager;
  environment: Environment;
  scopes?: Scope[];
  description?: string | null;
}

/**
 * Creates a credential of the caller's partner. It has the guard rails of the one that creates it and shares its caps.
 * Throws `production_not_enabled`, `production_token_required`, `too_many_credentials`, `rate_limit_exceeded`,
 * `unauthorized`.
 */
export async function createOwnCredential(tx: Tx, input: NewOwnCredential): Promise<OwnSecret> {
  const { manager, environment, scopes, description } = input;
  const caller = await callerOf(tx, manager);
  const partner = await partnerById(tx, manager.owner.partnerId);
  if (environment === "production" && !partner.production) {
    throw new Problem("production_not_enabled", "The operator has not enabled production for this partner.");
  }
  const all = await ofPartner(tx, { partner_id: partner.id });
  const inIt = all.filter((row) => row.environment === environment);
  // The first credential of production is how a partner goes live by itself; from then on the sandbox makes none.
  if (environment === "production" && manager.owner.environment === "sandbox" && inIt.length > 0) {
    const words = "A token of the sandbox creates the first production credential only; this partner had one.";
    throw new Problem("production_token_required", words);
  }
  if ((await activeOf(tx, inIt)).length >= MOST_ACTIVE) {
    const words = `At most ${MOST_ACTIVE} credentials may be active in ${environment}.`;
    throw new Problem("too_many_credentials", words, { members: { limit: MOST_ACTIVE } });
  }
  if (caller !== null) await refuseManyChanges(tx, manager.owner.partnerId);
  const rails = caller === null ? null : await railsOf(tx, caller);
  const issued = await createCredential(tx, {
    partner: partner.slug,
    live: environment === "production",
    ...(scopes === undefined ? {} : { scopes }),
    label: description ?? null,
    guardedBy: rails !== null && hasRails(rails) ? rails.client_id : null,
    actor: manager.actor,
  });
  return withSecret(tx, issued);
}

/**
 * Replaces the secret of a credential of the caller's partner. Throws `not_found`, `conflict` when it is revoked,
 * `guard_rails_apply` where the caller is restricted otherwise, `unauthorized`.
 */
export async function rotateOwnCredential(tx: Tx, input: { manager: Manager; clientId: string }): Promise<OwnSecret> {
  const { manager, clientId } = input;
  const caller = await callerOf(tx, manager);
  const target = await requireOwn(tx, manager.owner, clientId);
  if (caller !== null) await refuseOtherRails(tx, caller, target);
  return withSecret(tx, await rotateCredential(tx, { clientId: target.client_id, actor: manager.actor }));
}

/** With the secret of another credential a restricted one would be free of its restrictions; it ends none either. */
async function refuseOtherRails(tx: Tx, caller: CredentialRow, target: CredentialRow): Promise<void> {
  const [own, other] = [await railsOf(tx, caller), await railsOf(tx, target)];
  if (!hasRails(own) || own.client_id === other.client_id) return;
  const words = "A credential with guard rails replaces and revokes only itself and those with the same guard rails.";
  throw new Problem("guard_rails_apply", words);
}

/**
 * Revokes a credential of the caller's partner and its tokens. Throws `not_found`, `unauthorized`,
 * `guard_rails_apply` where the caller is restricted otherwise, and `last_credential` for the last one that can manage
 * the credentials of its environment.
 */
export async function deleteOwnCredential(tx: Tx, input: { manager: Manager; clientId: string }): Promise<void> {
  const { manager, clientId } = input;
  const caller = await callerOf(tx, manager);
  const target = await requireOwn(tx, manager.owner, clientId);
  if (target.revoked_at !== null) return;
  if (caller !== null) await refuseOtherRails(tx, caller, target);
  const all = await ofPartner(tx, { partner_id: target.partner_id });
  if (caller !== null) await refuseManyChanges(tx, manager.owner.partnerId);
  const active = await activeOf(tx, all);
  const managers = active.filter((row) => canManage(row) && row.environment === target.environment);
  if (managers.length === 1 && managers[0]?.client_id === target.client_id) {
    const words = `This is the last credential that can manage the credentials of the ${target.environment}.`;
    throw new Problem("last_credential", words);
  }
  await revokeCredential(tx, { clientId: target.client_id, actor: manager.actor });
}

/** Whether it can get a token with all scopes. */
function canManage({ scopes }: CredentialRow): boolean {
  return allScopes.every((scope) => scopes.includes(scope));
}

/** Those that are neither revoked nor expired. */
async function activeOf(q: Read, rows: readonly CredentialRow[]): Promise<CredentialRow[]> {
  const active: CredentialRow[] = [];
  for (const row of rows) {
    const { expires_at } = await railsOf(q, row);
    if (row.revoked_at === null && (expires_at === null || expires_at > q.now)) active.push(row);
  }
  return active;
}

/** The row of the caller's credential; null: an operator. Throws `unauthorized` where it was revoked meanwhile. */
async function callerOf(tx: Tx, { credential }: Manager): Promise<CredentialRow | null> {
  if (credential === null) return null;
  const row = await requireCredential(tx, credential);
  if (row.revoked_at === null) return row;
  throw new Problem("unauthorized", "The credential of this token was revoked.");
}

/** A credential that the caller manages: of its environment, in production of the sandbox too. Throws `not_found`. */
async function requireOwn(q: Read, owner: Owner, clientId: string): Promise<CredentialRow> {
  const row = await requireCredential(q, clientId);
  const manages = row.environment === owner.environment || owner.environment === "production";
  if (row.partner_id !== owner.partnerId || !manages) throw notFound("credential", clientId);
  return row;
}

async function withSecret(tx: Tx, { client_id, client_secret }: IssuedCredential): Promise<OwnSecret> {
  return { ...(await toOwn(tx, await requireCredential(tx, client_id))), client_secret };
}

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
async function refuseManyChanges(q: Read, partnerId: PartnerId): Promise<void> {
  const recent = await changes(q, { chain: auditChain(partnerId), after: q.now - HOUR_MS, limit: MOST_CHANGES });
  const earliest = recent[MOST_CHANGES - 1];
  if (earliest === undefined) return;
  const seconds = Math.max(1, Math.ceil((earliest.at + HOUR_MS - q.now) / 1000));
  const wait = counted(seconds, "second");
  const words = `More than ${MOST_CHANGES} credentials were created and deleted in an hour. Wait ${wait}.`;
  throw new Problem("rate_limit_exceeded", words, { members: { limit: MOST_CHANGES, retry_after_seconds: seconds } });
}
