import { eq } from "drizzle-orm";
import { type Actor, recordAudit } from "../audit/record.ts";
import type { InvitationId, PartnerId, UserId } from "../kernel/brand.ts";
import { isoTime } from "../kernel/clock.ts";
import { newId } from "../kernel/ids.ts";
import { invalid, Problem } from "../kernel/problem.ts";
import { insert, updateRow } from "../store/rows.ts";
import { type PartnerRole, partnerRoles, type StaffRole, staffRoles } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";
import { dropFactors } from "./factors.ts";
import { dropExpired, sealToken } from "./invitation-mail.ts";
import { requireOtherAdmin } from "./last-admin.ts";
import { endSessions } from "./sessions.ts";
import { newToken } from "./token.ts";
import {
  about,
  emailIndex,
  findUser,
  membershipsOf,
  sealProfile,
  type User,
  type UserRow,
  userById,
  userIn,
} from "./user.ts";

/** How long an invitation may be accepted (ms). */
const VALID_MS = 72 * 60 * 60 * 1000;

/**
 * A user who was invited. The token is part of a link, answered this once, and stored as its hash; sealed too until a
 * daemon has mailed the link, or does not mail it.
 */
export interface Invited {
  user: User;
  token: string;
  expires_at: string;
}

/** A role as it was typed, of the side that it is given on. Throws `validation`. */
export function requireRole(side: "staff" | "partner", role: string): StaffRole | PartnerRole {
  const known = side === "staff" ? staffRoles : partnerRoles;
  const found = known.find((one) => one === role);
  if (found !== undefined) return found;
  const whose = side === "staff" ? "the operator's staff" : "a partner";
  throw invalid({ role: [`must be a role of ${whose}: ${known.join(", ")}`] });
}

/** Who is invited, and in which role. */
export interface NewUser {
  email: string;
  role: string;
  /** Null: one of the operator's staff. */
  partnerId: PartnerId | null;
  reveal?: boolean;
  actor: Actor;
}

/**
 * Makes a user who is invited, or gives one who is there a role at another partner. Throws `validation`, and
 * `duplicate` where the address has the role already, or is on the other side.
 */
export async function inviteUser(tx: Tx, input: NewUser): Promise<Invited> {
  const { email, partnerId, reveal = false, actor } = input;
  const role = requireRole(partnerId === null ? "staff" : "partner", input.role);
  if (reveal && partnerId !== null) throw invalid({ reveal: ["is for the operator's staff"] });
  const known = await findUser(tx, email);
  const isPending = known !== null && (await isInvitedAlready(tx, known, partnerId));
  // `requireRole` has found it among the roles of this side.
  const staff_role = partnerId === null ? (role as StaffRole) : null;
  const row = known ?? (await insertUser(tx, { email, staff_role, reveal }));
  if (partnerId !== null && !isPending) {
    const of = { user_id: row.id, partner_id: partnerId, role: role as PartnerRole };
    await insert(tx, "memberships", [{ ...of, created_at: tx.now, accepted_at: null }]);
  }
  const changes = [{ field: "role", from: null, to: role }];
  await recordAudit(tx, { ...about(row, actor), action: "users.invite", partnerId, changes });
  return invitation(tx, row, partnerId);
}

/** Whether a user has an invitation of this partner that was not accepted. Throws `duplicate` where there is a role. */
async function isInvitedAlready(tx: Tx, row: UserRow, partnerId: PartnerId | null): Promise<boolean> {
  const memberships = await membershipsOf(tx, row.id);
  const isStaff = row.staff_role !== null;
  if (isStaff !== (partnerId === null)) {
    const words = "This address belongs to the other side: staff and partners' people have addresses of their own.";
    throw new Problem("duplicate", words);
  }
  const membership = memberships.find(({ partner_id }) => partner_id === partnerId);
  // Who has a password accepts with it: another link is all that is needed. Others are reset for a new one.
  const isPending = membership?.accepted === false && row.status === "active";
  if (isStaff || row.status === "disabled" || (membership !== undefined && !isPending)) {
    throw new Problem("duplicate", "A user with this address exists already. Reset the user for a new invitation.");
  }
  return isPending;
}

async function insertUser(tx: Tx, { email, ...given }: Pick<UserRow, "staff_role" | "reveal"> & { email: string }) {
  const id = newId<UserId>(tx);
  const row: UserRow = {
    id,
    sealed: sealProfile(tx, id, { email: email.trim(), name: null }),
    email_index: emailIndex(tx, email),
    status: "invited",
    ...given,
    password_hash: null,
    created_at: tx.now,
    updated_at: tx.now,
  };
  await insert(tx, "users", [row]);
  return row;
}

const dropOfUser = statement((db, t, slot: Slots<{ user_id: UserId }>) =>
  db.delete(t.invitations).where(eq(t.invitations.user_id, slot.user_id)),
);

async function invitation(tx: Tx, row: UserRow, partner_id: PartnerId | null): Promise<Invited> {
  await dropExpired(tx);
  const { token, token_hash } = newToken(tx.ids);
  const id = newId<InvitationId>(tx);
  const expires_at = tx.now + VALID_MS;
  await insert(tx, "invitations", [
    {
      id,
      token_hash,
      user_id: row.id,
      partner_id,
      expires_at,
      created_at: tx.now,
      token_sealed: sealToken(tx, id, token),
      due_at: tx.now,
      leased_until: null,
      lease_no: 0,
      failed_attempts: 0,
    },
  ]);
  return { user: await userIn(tx, row, partner_id), token, expires_at: isoTime(expires_at) };
}

/**
 * Takes password, factors and sessions of a user away, and invites the user again; earlier invitations end. Throws
 * `not_found`, and `conflict` for one who is disabled, and for the last admin who can sign in unless the terminal asks.
 */
export async function resetUser(
  tx: Tx,
  { userId, partnerId, actor }: { userId: UserId; partnerId: PartnerId | null; actor: Actor },
): Promise<Invited> {
  const row = await userById(tx, userId);
  if (row.status === "disabled") throw new Problem("conflict", "The user is disabled. Enable the user first.");
  await userIn(tx, row, partnerId);
  await requireOtherAdmin(tx, { userId, partnerId, actor });
  await endAccess(tx, row.id);
  await dropFactors(tx, row.id);
  const reset = { status: "invited", password_hash: null, updated_at: tx.now } as const;
  await updateRow(tx, "users", { id: row.id }, reset);
  await recordAudit(tx, { ...about(row, actor), action: "users.reset", partnerId });
  return invitation(tx, { ...row, ...reset }, partnerId);
}

/** Ends the sessions and open invitations of a user. */
export async function endAccess(tx: Tx, userId: UserId): Promise<void> {
  await endSessions(tx, userId);
  await dropOfUser(tx, { user_id: userId });
}
