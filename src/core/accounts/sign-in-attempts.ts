import { lte, sql } from "drizzle-orm";
import { recordAudit } from "../audit/record.ts";
import type { UserId } from "../kernel/brand.ts";
import { counted } from "../kernel/counted.ts";
import { invalid, Problem } from "../kernel/problem.ts";
import { emailKey } from "../kernel/search-keys.ts";
import { findByKey, updateRow } from "../store/rows.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { wrongCode } from "./factors.ts";
import { actorOfUser, findUser, type UserRow } from "./user.ts";

/** Failures within this time (ms) count together. */
const WINDOW_MS = 15 * 60 * 1000;
/** Failures after which each further one makes the next attempt wait: of one account, and from one address. */
const FREE_FAILURES = { account: 5, address: 20 } as const;
/** The first wait; each further failure doubles it, up to the whole window. */
const FIRST_WAIT_MS = 2_000;

/** Who tries to sign in, as they are counted. */
export interface Attempt {
  email: string;
  /** The client's address. */
  ip: string;
}

function marksOf(q: Pick<Read, "vault">, { email, ip }: Attempt): { account: string; address: string } {
  const mark = (space: string, value: string) => q.vault.blindIndex(`sign_in ${space}`, value);
  return { account: mark("account", emailKey(email) ?? ""), address: mark("address", ip) };
}

/** What is known of who tries to sign in; null: no such user. Throws `rate_limit_exceeded` while attempts wait. */
export async function beginSignIn(q: Read, attempt: Attempt): Promise<UserRow | null> {
  await refuseBlocked(q, attempt);
  return findUser(q, attempt.email).catch((error: unknown) => {
    if (error instanceof Problem) return null;
    throw error;
  });
}

/** Throws `rate_limit_exceeded` while attempts of this account, or from this address, wait. */
export async function refuseBlocked(q: Read, attempt: Attempt): Promise<void> {
  for (const mark of Object.values(marksOf(q, attempt))) {
    const row = await findByKey(q, "signInFailures", { mark });
    if (row?.blocked_until && row.blocked_until > q.now) throw tooMany(row.blocked_until - q.now);
  }
}

function tooMany(waitMs: number): Problem {
  const seconds = Math.ceil(waitMs / 1000);
  const words = `Too many attempts have failed. Try again in ${counted(seconds, "second")}.`;
  return new Problem("rate_limit_exceeded", words, { members: { retry_after_seconds: seconds } });
}

const count = statement((db, t, slot: Slots<{ mark: string; now: number; oldest: number }>) =>
  db
    .insert(t.signInFailures)
    .values({ mark: slot.mark, failures: 1, since: slot.now, blocked_until: null })
    .onConflictDoUpdate({
      target: t.signInFailures.mark,
      set: {
        failures: sql`case when ${t.signInFailures.since} <= ${slot.oldest} then 1
          else ${t.signInFailures.failures} + 1 end`,
        since: sql`case when ${t.signInFailures.since} <= ${slot.oldest} then ${slot.now}
          else ${t.signInFailures.since} end`,
      },
    })
    .returning({ failures: t.signInFailures.failures }),
);

const forget = statement((db, t, slot: Slots<{ oldest: number }>) =>
  db.delete(t.signInFailures).where(lte(t.signInFailures.since, slot.oldest)),
);

/** A refusal that is the same whether the user or the password is wrong, and for how long (ms) others follow. */
export interface Refused {
  refused: "password" | "code";
  waitMs: number;
}

/** A refusal in words. */
export function refusalOf({ refused, waitMs }: Refused): Problem {
  if (waitMs > 0) return tooMany(waitMs);
  return refused === "password" ? invalid({ password: ["or address is wrong"] }) : wrongCode();
}

/**
 * Counts a failed sign-in of an account and from an address, and answers what it is refused with. Audited under the
 * user, if there is one.
 */
export async function failSignIn(tx: Tx, attempt: Attempt & { userId: UserId | null }): Promise<Refused> {
  const oldest = tx.now - WINDOW_MS;
  await forget(tx, { oldest });
  let waitMs = 0;
  for (const [side, mark] of Object.entries(marksOf(tx, attempt))) {
    const [counted] = await count(tx, { mark, now: tx.now, oldest });
    // Its keys are the two sides.
    const over = (counted?.failures ?? 0) - FREE_FAILURES[side as keyof typeof FREE_FAILURES];
    if (over <= 0) continue;
    const wait = Math.min(WINDOW_MS, FIRST_WAIT_MS * 2 ** (over - 1));
    await updateRow(tx, "signInFailures", { mark }, { blocked_until: tx.now + wait });
    waitMs = Math.max(waitMs, wait);
  }
  const { userId } = attempt;
  const target = { targetKind: "user", targetId: userId ?? "unknown" };
  await recordAudit(tx, {
    actor: userId === null ? "visitor" : actorOfUser(userId),
    action: "users.sign_in_failed",
    ...target,
  });
  return { refused: "password", waitMs };
}

/** Begins to count an account's failures again, after a good sign-in. */
export async function forgetFailures(tx: Tx, attempt: Attempt): Promise<void> {
  const { account: mark } = marksOf(tx, attempt);
  await updateRow(tx, "signInFailures", { mark }, { failures: 0, since: tx.now, blocked_until: null });
}
