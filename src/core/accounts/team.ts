import { type AuditLine, listAudit } from "../audit/list.ts";
import type { Actor } from "../audit/record.ts";
import type { PartnerId, UserId } from "../kernel/brand.ts";
import { Problem } from "../kernel/problem.ts";
import { findByKey } from "../store/rows.ts";
import type { Read, Tx } from "../store/store.ts";
import { type Invited, resetUser } from "./invite.ts";
import { listUsers } from "./list-users.ts";
import { membershipsOf, type User, userById, userIn } from "./user.ts";

/** A partner's people, and whether each needs a second factor. */
export interface Team {
  users: User[];
  factorRequired: boolean;
}

/** The people of one partner. There are few of them. */
export async function readTeam(q: Read, partnerId: PartnerId): Promise<Team> {
  const partner = await findByKey(q, "partners", { id: partnerId });
  return { users: await listUsers(q, { partnerId }), factorRequired: partner?.factor_required === true };
}

/** Lines of the audit trail that a page shows of a person. */
const MOST_LINES = 100;

/** One of the team, and what was done to this person at this partner, oldest first. Throws `not_found`. */
export async function readMember(
  q: Read,
  { userId, partnerId }: { userId: UserId; partnerId: PartnerId },
): Promise<{ user: User; history: AuditLine[]; names: Record<string, string> }> {
  const user = await userIn(q, await userById(q, userId), partnerId);
  const lines = await listAudit(q, { target: userId, limit: MOST_LINES });
  // What the person does elsewhere is not this partner's to see.
  const history = lines.filter(({ partner_id }) => partner_id === partnerId).reverse();
  const team = await listUsers(q, { partnerId });
  return { user, history, names: Object.fromEntries(team.map(({ id, name, email }) => [id, name ?? email])) };
}

/**
 * Gives one of an owner's team who was locked out a new invitation, in place of password, factors and sessions. Throws
 * `not_found`, and `conflict` for the owner's own account and for a person who works for another partner too.
 */
export async function resetMember(
  tx: Tx,
  { userId, partnerId, by, actor }: { userId: UserId; partnerId: PartnerId; by: UserId; actor: Actor },
): Promise<Invited> {
  const user = await userById(tx, userId);
  await userIn(tx, user, partnerId);
  if (userId === by) throw new Problem("conflict", "This is your own account: change its password instead.");
  const isElsewhere = (await membershipsOf(tx, userId)).some(({ partner_id }) => partner_id !== partnerId);
  if (isElsewhere || user.staff_role !== null) {
    throw new Problem("conflict", "This person does not work for you alone: only the operator can do this.");
  }
  return resetUser(tx, { userId, partnerId, actor });
}
