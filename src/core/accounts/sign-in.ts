import { type Actor, recordAudit } from "../audit/record.ts";
import type { PartnerId, SessionId, UserId } from "../kernel/brand.ts";
import { Problem } from "../kernel/problem.ts";
import { findByKey, updateRow } from "../store/rows.ts";
import type { Read, Tx } from "../store/store.ts";
import { type Passkey, refusedPasskey, useCode, usePasskey } from "./factors.ts";
import { endSessions, keepProof, openSession, type SessionRow } from "./sessions.ts";
import { type Attempt, failSignIn, forgetFailures, type Refused, refuseBlocked } from "./sign-in-attempts.ts";
import { about, actorOfUser, membershipsOf, type UserRow, userById } from "./user.ts";

/** What follows a right password: a session that may still lack its second factor. */
export interface SignedIn {
  token: string;
  partnerId: PartnerId | null;
}

/**
 * Opens a session for a user whose password was verified against the hash that is still there: in the console, or in
 * the portal of the first partner that is not suspended. Throws `partner_suspended`, and `rate_limit_exceeded` where
 * attempts have to wait since this one began: however many are sent at once, on whatever nodes.
 */
export async function signIn(
  tx: Tx,
  { userId, passwordHash, agent, attempt }: { userId: UserId; passwordHash: string; agent: string; attempt: Attempt },
): Promise<SignedIn | Refused> {
  await refuseBlocked(tx, attempt);
  const user = await userById(tx, userId);
  if (user.status !== "active" || user.password_hash !== passwordHash) return failSignIn(tx, { ...attempt, userId });
  await forgetFailures(tx, attempt);
  return enter(tx, { user, partnerId: null, agent });
}

/** Opens a session in the portal of this partner, or where the user's roles lead. Throws `partner_suspended`. */
async function enter(
  tx: Tx,
  { user, partnerId, agent }: { user: UserRow; partnerId: PartnerId | null; agent: string },
): Promise<SignedIn> {
  const at = await placeOf(tx, user, partnerId);
  const token = await openSession(tx, { userId: user.id, partnerId: at, agent, factor: false });
  const actor = actorOfUser(user.id);
  await recordAudit(tx, { ...about(user, actor), action: "users.sign_in", partnerId: at });
  return { token, partnerId: at };
}

async function placeOf(q: Read, user: UserRow, partnerId: PartnerId | null): Promise<PartnerId | null> {
  if (user.staff_role !== null) return null;
  const open = (await membershipsOf(q, user.id)).filter(({ suspended, accepted }) => accepted && !suspended);
  const found = open.find(({ partner_id }) => partner_id === partnerId) ?? open[0];
  if (found === undefined) throw new Problem("partner_suspended", "The partner is suspended. Contact the operator.");
  return found.partner_id;
}

/**
 * Opens the session of who has just accepted an invitation. Throws `partner_suspended`, `not_found`.
 */
export async function enterInvited(
  tx: Tx,
  { userId, partnerId, agent }: { userId: UserId; partnerId: PartnerId | null; agent: string },
): Promise<SignedIn> {
  return enter(tx, { user: await userById(tx, userId), partnerId, agent });
}

/** Gives a session its second factor by a code: a token in place of the one it had, or the refusal, counted. */
export async function proveByCode(
  tx: Tx,
  { session, code, attempt }: { session: Pick<SessionRow, "id" | "user_id">; code: string; attempt: Attempt },
): Promise<{ token: string } | Refused> {
  await refuseBlocked(tx, attempt);
  try {
    await useCode(tx, { userId: session.user_id, code });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { ...(await failSignIn(tx, { ...attempt, userId: session.user_id })), refused: "code" };
  }
  await forgetFailures(tx, attempt);
  return { token: await keepProof(tx, session.id) };
}

/**
 * The same by a passkey whose signature over the session's challenge was verified. The challenge is worth one proof,
 * however many were verified at once. Throws `validation` where it was used meanwhile, or the count went back.
 */
export async function proveByPasskey(
  tx: Tx,
  { session, passkey, counter }: { session: Pick<SessionRow, "id" | "challenge">; passkey: Passkey; counter: number },
): Promise<{ token: string }> {
  const current = await findByKey(tx, "sessions", { id: session.id });
  if (current === null || current.challenge !== session.challenge) throw refusedPasskey();
  await usePasskey(tx, { passkey, counter });
  return { token: await keepProof(tx, session.id) };
}

/** Replaces a password that was verified; all other sessions of the user end. */
export async function changePassword(
  tx: Tx,
  { userId, passwordHash, session, actor }: { userId: UserId; passwordHash: string; session: SessionId; actor: Actor },
): Promise<void> {
  await updateRow(tx, "users", { id: userId }, { password_hash: passwordHash, updated_at: tx.now });
  await endSessions(tx, userId, session);
  await recordAudit(tx, { ...about({ id: userId }, actor), action: "users.password" });
}
