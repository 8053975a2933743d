import { lte, sql } from "drizzle-orm";
import type { InvitationId } from "../kernel/brand.ts";
import { hasDueIn, type Lease, leaseOn, leasesOf } from "../platform/lease.ts";
import { mailRest } from "../platform/mail-rest.ts";
import { findByKey, updateRow } from "../store/rows.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { openProfile, userById } from "./user.ts";

/** An invitation whose mail a node has for a while. */
export type ClaimedInvitation = Lease<"invitations">;

/** What the mail of an invitation says, and to whom. */
export interface InvitationMail {
  to: string;
  token: string;
  /** The partner whose portal it opens; null: the console. */
  partnerName: string | null;
  /** A new user, one who was reset, or one who signs in already and gets a further role. */
  invites: "new" | "reset" | "known";
  expiresAt: number;
}

/** Longer than an attempt to send, and short enough that a node that died costs a minute. */
const LEASE_MS = 60_000;
/** How many are claimed at a time: more would wait for a connection to the mail server, and outlast their leases. */
export const INVITATIONS_AT_ONCE = 5;

const leases = leasesOf("invitations", LEASE_MS);
const claim = leases.claimer<object>(() => sql`true`);

const tokenCell = (id: InvitationId) => ({ column: "invitations.token_sealed", row: id }) as const;

/** Seals a token for its row while its mail waits; only inside a command. */
export function sealToken(tx: Tx, id: InvitationId, token: string): string {
  return tx.vault.seal(token, tokenCell(id));
}

const expired = statement((db, t, slot: Slots<{ now: number }>) =>
  db.delete(t.invitations).where(lte(t.invitations.expires_at, slot.now)),
);

/** Removes the invitations that cannot be accepted any more, with the tokens whose mail did not get away. */
export async function dropExpired(tx: Tx): Promise<void> {
  await expired(tx, { now: tx.now });
}

/** Whether the mail of an invitation has been due for so long. */
export const hasDueInvitations = hasDueIn("invitations");

/** Claims the invitations whose mail is due. Those that have expired are removed and not mailed. */
export async function claimInvitations(tx: Tx): Promise<ClaimedInvitation[]> {
  await dropExpired(tx);
  return (await claim(tx, { limit: INVITATIONS_AT_ONCE })).map((row) => leaseOn<"invitations">(row));
}

/**
 * What is mailed of an invitation. Null: it was used or ended since it was claimed, or another node has it.
 * Throws `UnreadableError`.
 */
export async function readInvitationMail(q: Read, { id, no }: ClaimedInvitation): Promise<InvitationMail | null> {
  const row = await findByKey(q, "invitations", { id });
  if (row === null || row.token_sealed === null || row.lease_no !== no || row.expires_at <= q.now) return null;
  const user = await userById(q, row.user_id);
  const { email, name } = openProfile(q, user);
  const partner = row.partner_id === null ? null : await findByKey(q, "partners", { id: row.partner_id });
  return {
    to: email,
    token: q.vault.open(row.token_sealed, tokenCell(id)),
    partnerName: partner?.name ?? null,
    invites: user.status === "active" ? "known" : name === null ? "new" : "reset",
    expiresAt: row.expires_at,
  };
}

/** What is kept of an invitation that no mail waits for: no token. */
const NO_MAIL = { token_sealed: null, due_at: null, leased_until: null };

/**
 * Records what came of an attempt: once sent, the token is removed. Nothing, where the lease was lost or the invitation
 * is gone: then another node sends again under the same ID.
 */
export async function recordMailed(
  tx: Tx,
  { lease, sent }: { lease: ClaimedInvitation; sent: boolean },
): Promise<void> {
  const { id, no } = lease;
  const row = await findByKey(tx, "invitations", { id });
  if (row === null || row.lease_no !== no || row.leased_until === null) return;
  if (sent) return updateRow(tx, "invitations", { id }, NO_MAIL);
  const failed_attempts = row.failed_attempts + 1;
  // At its end it is looked at once more, and removed.
  const due_at = Math.min(tx.now + mailRest(failed_attempts), row.expires_at);
  await updateRow(tx, "invitations", { id }, { due_at, leased_until: null, failed_attempts });
}

const forget = statement((db, t, slot: Slots<{ before: number }>) =>
  db.update(t.invitations).set(NO_MAIL).where(lte(t.invitations.due_at, slot.before)),
);

/** Removes the tokens whose mail has been due for `forMs` and that no node sends: their invitations stay. */
export async function forgetTokens(tx: Tx, { forMs }: { forMs: number }): Promise<void> {
  await forget(tx, { before: tx.now - forMs });
}
