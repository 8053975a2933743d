import { and, desc, eq, gt, ne, or, sql } from "drizzle-orm";
import { type Actor, recordAudit } from "../audit/record.ts";
import type { PartnerId, SessionId, UserId } from "../kernel/brand.ts";
import { isoTime } from "../kernel/clock.ts";
import type { Environment } from "../kernel/environment.ts";
import { newId } from "../kernel/ids.ts";
import { notFound } from "../kernel/problem.ts";
import { insert, updateRow } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { hashOfToken, newToken } from "./token.ts";
import { about } from "./user.ts";

/** A session ends so long after it was used last, and after it began (ms). */
const IDLE_MS = 12 * 60 * 60 * 1000;
const LONGEST_MS = 7 * 24 * 60 * 60 * 1000;
/** Its last use is written so often at most (ms). */
const SEEN_MS = 60 * 1000;
/** For so long (ms) a second factor holds for acts that ask for it again. */
export const STEP_UP_MS = 10 * 60 * 1000;

export type SessionRow = Row<"sessions">;

/** A session as it begins. */
export interface NewSession {
  userId: UserId;
  /** The partner whose portal it opens; null: the console. */
  partnerId: PartnerId | null;
  /** Browser and system. */
  agent: string;
  /** Whether a second factor was given with the password. */
  factor: boolean;
}

const expired = statement((db, t, slot: Slots<{ idle: number; oldest: number }>) =>
  db
    .delete(t.sessions)
    .where(or(sql`${t.sessions.seen_at} <= ${slot.idle}`, sql`${t.sessions.created_at} <= ${slot.oldest}`)),
);

const productionOf = statement((db, t, slot: Slots<{ id: PartnerId }>) =>
  db.select({ production: t.partners.production }).from(t.partners).where(eq(t.partners.id, slot.id)),
);

/** Opens a session and answers its token, which is stored as its hash alone. Removes those that have ended. */
export async function openSession(tx: Tx, { userId, partnerId, agent, factor }: NewSession): Promise<string> {
  await expired(tx, { idle: tx.now - IDLE_MS, oldest: tx.now - LONGEST_MS });
  const { token, token_hash } = newToken(tx.ids);
  const live = partnerId !== null && first(await productionOf(tx, { id: partnerId }))?.production === true;
  await insert(tx, "sessions", [
    {
      id: newId<SessionId>(tx),
      token_hash,
      user_id: userId,
      partner_id: partnerId,
      environment: live ? "production" : "sandbox",
      view_as: null,
      agent: agent.slice(0, 120),
      challenge: null,
      factor_at: factor ? tx.now : null,
      created_at: tx.now,
      seen_at: tx.now,
    },
  ]);
  return token;
}

const byToken = statement((db, t, slot: Slots<{ hash: string }>) =>
  db
    .select({ session: t.sessions, user: t.users })
    .from(t.sessions)
    .innerJoin(t.users, eq(t.users.id, t.sessions.user_id))
    .where(eq(t.sessions.token_hash, slot.hash)),
);

/** The session of a cookie and its user; null: it has ended, or never was one. */
export async function findSession(
  q: Read,
  token: string,
): Promise<{ session: SessionRow; user: Row<"users">; isStale: boolean } | null> {
  const found = first(await byToken(q, { hash: hashOfToken(token) }));
  if (found === null || found.user.status !== "active") return null;
  const { seen_at, created_at } = found.session;
  if (seen_at <= q.now - IDLE_MS || created_at <= q.now - LONGEST_MS) return null;
  return { ...found, isStale: seen_at <= q.now - SEEN_MS };
}

/** Notes that a session is used. */
export async function touchSession(tx: Tx, id: SessionId): Promise<void> {
  await updateRow(tx, "sessions", { id }, { seen_at: tx.now });
}

/** Gives a session another token, as it gets more rights: one that was known before is worth nothing. */
async function renewSession(
  tx: Tx,
  { id, change }: { id: SessionId; change: Partial<Pick<SessionRow, "factor_at" | "partner_id" | "environment">> },
): Promise<string> {
  const { token, token_hash } = newToken(tx.ids);
  await updateRow(tx, "sessions", { id }, { ...change, token_hash, challenge: null });
  return token;
}

/** Notes that a second factor was given just now, and answers the session's new token. */
export function keepProof(tx: Tx, id: SessionId): Promise<string> {
  return renewSession(tx, { id, change: { factor_at: tx.now } });
}

/** Keeps what the next passkey of a session has to sign. */
export async function keepChallenge(tx: Tx, { id, challenge }: { id: SessionId; challenge: string }): Promise<void> {
  await updateRow(tx, "sessions", { id }, { challenge });
}

/** Shows another environment in the portal. */
export async function switchEnvironment(
  tx: Tx,
  { id, environment }: { id: SessionId; environment: Environment },
): Promise<void> {
  await updateRow(tx, "sessions", { id }, { environment });
}

/** Lets a member of staff look at a partner's portal, or ends that (null). */
export async function viewAs(
  tx: Tx,
  { id, partnerId, actor }: { id: SessionId; partnerId: PartnerId | null; actor: Actor },
): Promise<void> {
  await updateRow(tx, "sessions", { id }, { view_as: partnerId, environment: "production" });
  if (partnerId === null) return;
  await recordAudit(tx, { actor, action: "users.view_as", targetKind: "partner", targetId: partnerId, partnerId });
}

const ofUser = statement((db, t, slot: Slots<{ user_id: UserId }>) =>
  db.select().from(t.sessions).where(eq(t.sessions.user_id, slot.user_id)).orderBy(desc(t.sessions.id)),
);

/** A session as its user sees it. */
export interface ListedSession {
  id: SessionId;
  agent: string;
  created_at: string;
  seen_at: string;
}

/** A user's sessions that have not ended, newest first. */
export async function listSessions(q: Read, userId: UserId): Promise<ListedSession[]> {
  const rows = await ofUser(q, { user_id: userId });
  return rows
    .filter(({ seen_at, created_at }) => seen_at > q.now - IDLE_MS && created_at > q.now - LONGEST_MS)
    .map(({ id, agent, created_at, seen_at }) => ({
      id,
      agent,
      created_at: isoTime(created_at),
      seen_at: isoTime(seen_at),
    }));
}

const end = statement((db, t, slot: Slots<{ id: SessionId; user_id: UserId }>) =>
  db
    .delete(t.sessions)
    .where(and(eq(t.sessions.id, slot.id), eq(t.sessions.user_id, slot.user_id)))
    .returning({ id: t.sessions.id }),
);

/** Ends one session of a user. Throws `not_found`. */
export async function endSession(
  tx: Tx,
  { id, userId, actor }: { id: SessionId; userId: UserId; actor: Actor },
): Promise<void> {
  if (first(await end(tx, { id, user_id: userId })) === null) throw notFound("session");
  await recordAudit(tx, { ...about({ id: userId }, actor), action: "users.sign_out" });
}

const endAll = statement((db, t, slot: Slots<{ user_id: UserId; but: string }>) =>
  db.delete(t.sessions).where(and(eq(t.sessions.user_id, slot.user_id), ne(t.sessions.id, slot.but as never))),
);

/** Ends all sessions of a user but one, if one is named. */
export async function endSessions(tx: Tx, userId: UserId, but: SessionId | null = null): Promise<void> {
  await endAll(tx, { user_id: userId, but: but ?? "" });
}

const at = statement((db, t, slot: Slots<{ partner_id: PartnerId; idle: number; oldest: number }>) =>
  db
    .select({ user_id: t.sessions.user_id })
    .from(t.sessions)
    .where(
      and(
        eq(t.sessions.partner_id, slot.partner_id),
        gt(t.sessions.seen_at, slot.idle),
        gt(t.sessions.created_at, slot.oldest),
      ),
    ),
);

/** How many people are signed in to a partner's portal. */
export async function signedInAt(q: Read, partnerId: PartnerId): Promise<number> {
  const ends = { idle: q.now - IDLE_MS, oldest: q.now - LONGEST_MS };
  const open = await at(q, { partner_id: partnerId, ...ends });
  return new Set(open.map(({ user_id }) => user_id)).size;
}

const endAt = statement((db, t, slot: Slots<{ partner_id: PartnerId }>) =>
  db.delete(t.sessions).where(eq(t.sessions.partner_id, slot.partner_id)),
);

/** Ends every session in a partner's portal. */
export async function endSessionsAt(tx: Tx, partnerId: PartnerId): Promise<void> {
  await endAt(tx, { partner_id: partnerId });
}

const endEvery = statement((db, t, _slot) => db.delete(t.sessions));

/** Ends the sessions of all users. */
export async function endEverySession(tx: Tx, _input: null): Promise<void> {
  await endEvery(tx, {});
}
