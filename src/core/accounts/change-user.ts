import { and, eq, isNotNull } from "drizzle-orm";
import { type Actor, recordAudit } from "../audit/record.ts";
import type { PartnerId, UserId } from "../kernel/brand.ts";
import { invalid, Problem } from "../kernel/problem.ts";
import { updateRow } from "../store/rows.ts";
import type { FieldChange, PartnerRole, StaffRole } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";
import { dropFactors } from "./factors.ts";
import { endAccess, requireRole } from "./invite.ts";
import { requireOtherAdmin } from "./last-admin.ts";
import { endSessions } from "./sessions.ts";
import {
  about,
  membershipsOf,
  profileOf,
  requireName,
  sealProfile,
  type User,
  type UserRow,
  userById,
  userIn,
} from "./user.ts";

/** A user in the role at a partner, or in the staff's (null). */
export interface InRole {
  userId: UserId;
  partnerId: PartnerId | null;
  actor: Actor;
}

const setRole = statement((db, t, slot: Slots<{ user_id: UserId; partner_id: PartnerId; role: PartnerRole }>) =>
  db
    .update(t.memberships)
    .set({ role: slot.role })
    .where(and(eq(t.memberships.user_id, slot.user_id), eq(t.memberships.partner_id, slot.partner_id))),
);

const leave = statement((db, t, slot: Slots<{ user_id: UserId; partner_id: PartnerId }>) =>
  db
    .delete(t.memberships)
    .where(and(eq(t.memberships.user_id, slot.user_id), eq(t.memberships.partner_id, slot.partner_id))),
);

const dropInvitations = statement((db, t, slot: Slots<{ user_id: UserId; partner_id: PartnerId }>) =>
  db
    .delete(t.invitations)
    .where(and(eq(t.invitations.user_id, slot.user_id), eq(t.invitations.partner_id, slot.partner_id))),
);

/** Changes a role, or whether staff may reveal identities. Throws `not_found`, `validation`, `conflict`. */
export async function updateUser(
  tx: Tx,
  { userId, partnerId, actor, ...given }: InRole & { role?: string | undefined; reveal?: boolean | undefined },
): Promise<User> {
  const row = await userById(tx, userId);
  const before = await userIn(tx, row, partnerId);
  const { reveal } = given;
  if (reveal !== undefined && partnerId !== null) throw invalid({ reveal: ["is for the operator's staff"] });
  const role =
    given.role === undefined ? before.role : requireRole(partnerId === null ? "staff" : "partner", given.role);
  if (partnerId !== null && before.role === "owner" && role !== "owner") await requireOtherOwner(tx, partnerId, userId);
  if (before.role === "admin" && role !== "admin") await requireOtherAdmin(tx, { userId, partnerId, actor });
  // `requireRole` has found it among the roles of this side.
  if (partnerId === null) {
    await updateRow(tx, "users", { id: userId }, { staff_role: role as StaffRole, reveal, updated_at: tx.now });
  } else await setRole(tx, { user_id: userId, partner_id: partnerId, role: role as PartnerRole });
  const changes: FieldChange[] = [];
  if (role !== before.role) changes.push({ field: "role", from: before.role, to: role });
  if (reveal !== undefined && reveal !== before.reveal) {
    changes.push({ field: "reveal", from: before.reveal, to: reveal });
  }
  if (changes.length > 0) await recordAudit(tx, { ...about(row, actor), action: "users.update", partnerId, changes });
  return userIn(tx, await userById(tx, userId), partnerId);
}

const owners = statement((db, t, slot: Slots<{ partner_id: PartnerId }>) =>
  db
    .select({ user_id: t.memberships.user_id })
    .from(t.memberships)
    .innerJoin(t.users, eq(t.users.id, t.memberships.user_id))
    .where(
      and(
        eq(t.memberships.partner_id, slot.partner_id),
        eq(t.memberships.role, "owner"),
        isNotNull(t.memberships.accepted_at),
        eq(t.users.status, "active"),
      ),
    ),
);

/** A partner keeps an owner who can sign in, once it has one. Throws `conflict`. */
async function requireOtherOwner(tx: Tx, partner_id: PartnerId, userId: UserId): Promise<void> {
  const all = await owners(tx, { partner_id });
  if (all.length === 1 && all[0]?.user_id === userId) {
    throw new Problem("conflict", "This is the partner's last owner who can sign in. Make another one owner first.");
  }
}

/**
 * Ends a user's access until it is enabled again: sessions and invitations end at once. Throws `not_found`, and
 * `conflict` for the last admin who can sign in, unless the terminal asks.
 */
export async function disableUser(tx: Tx, { userId, partnerId, actor }: InRole): Promise<User> {
  const row = await userById(tx, userId);
  await userIn(tx, row, partnerId);
  await requireOtherAdmin(tx, { userId, partnerId, actor });
  await endAccess(tx, userId);
  return setStatus(tx, row, { status: "disabled", action: "users.disable", partnerId, actor });
}

/** Lets a disabled user sign in again; one who never had a password needs a new invitation. Throws `not_found`. */
export async function enableUser(tx: Tx, { userId, partnerId, actor }: InRole): Promise<User> {
  const row = await userById(tx, userId);
  await userIn(tx, row, partnerId);
  if (row.status !== "disabled") return userIn(tx, row, partnerId);
  const status = row.password_hash === null ? "invited" : "active";
  return setStatus(tx, row, { status, action: "users.enable", partnerId, actor });
}

async function setStatus(
  tx: Tx,
  row: UserRow,
  { status, action, partnerId, actor }: Pick<UserRow, "status"> & { action: string } & Omit<InRole, "userId">,
): Promise<User> {
  if (row.status !== status) {
    await updateRow(tx, "users", { id: row.id }, { status, updated_at: tx.now });
    await recordAudit(tx, { ...about(row, actor), action, partnerId });
  }
  return userIn(tx, { ...row, status }, partnerId);
}

/**
 * Takes a user's role at a partner away; the user's sessions end, and with the last role password and factors. Throws
 * `not_found`, and `conflict` for the last owner who can sign in.
 */
export async function removeFromPartner(tx: Tx, { userId, partnerId, actor }: InRole & { partnerId: PartnerId }) {
  const row = await userById(tx, userId);
  const { role } = await userIn(tx, row, partnerId);
  if (role === "owner") await requireOtherOwner(tx, partnerId, userId);
  await leave(tx, { user_id: userId, partner_id: partnerId });
  // A role that is no more is neither accepted nor mailed.
  await dropInvitations(tx, { user_id: userId, partner_id: partnerId });
  await endSessions(tx, userId);
  if ((await membershipsOf(tx, userId)).length === 0) {
    await endAccess(tx, userId);
    await dropFactors(tx, userId);
    // The person may be invited again, unless the operator has disabled the account.
    const status = row.status === "disabled" ? "disabled" : "invited";
    await updateRow(tx, "users", { id: userId }, { status, password_hash: null, updated_at: tx.now });
  }
  await recordAudit(tx, { ...about(row, actor), action: "users.remove", partnerId });
}

/** Changes a user's own name. Throws `validation`. */
export async function renameUser(tx: Tx, { userId, name, actor }: { userId: UserId; name: string; actor: Actor }) {
  const row = await userById(tx, userId);
  const sealed = sealProfile(tx, userId, { email: profileOf(tx, row).email, name: requireName(name) });
  await updateRow(tx, "users", { id: userId }, { sealed, updated_at: tx.now });
  await recordAudit(tx, { ...about(row, actor), action: "users.update", fields: ["name"] });
}

/** Makes a partner's people sign in with a second factor, or leaves it to them. */
export async function requireFactor(
  tx: Tx,
  { partnerId, required, actor }: { partnerId: PartnerId; required: boolean; actor: Actor },
): Promise<void> {
  await updateRow(tx, "partners", { id: partnerId }, { factor_required: required, updated_at: tx.now });
  const changes = [{ field: "factor_required", from: !required, to: required }];
  const target = { targetKind: "partner", targetId: partnerId, partnerId };
  await recordAudit(tx, { actor, action: "partners.update", ...target, changes });
  await tx.touch();
}
