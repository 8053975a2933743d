import { eq, or, sql } from "drizzle-orm";
import { endedInSandbox, expireInSandbox, hasEndedInSandbox } from "../esims/expire.ts";
import { announceInSandbox, hasNoticesInSandbox, noticesInSandbox } from "../esims/expiring-in-sandbox.ts";
import { noticesThroughOf } from "../esims/notices-through.ts";
import type { PartnerId } from "../kernel/brand.ts";
import { isClockOf } from "../platform/sandbox-clock.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";

/** What one transaction does at most, so that nothing else waits for long. */
const STEP = 500;

/** How far notices may be behind the clock before a step says that there were none (ms). */
const MINUTE_MS = 60_000;

/** Something that an advanced clock made due, and at what moment of that clock (ms). */
interface Due {
  at: number;
  run(tx: Tx): Promise<void>;
}

interface DueRange {
  partner_id: PartnerId;
  /** Until when all notices are written. */
  since: number;
  /** The clock's time. */
  until: number;
  limit: number;
}

/** The first `limit` things of one kind that are due by `until`, in the order of their moments. */
type Source = (q: Read, asked: DueRange) => Promise<Due[]>;

const expiries: Source = async (q, asked) => {
  const ended = await endedInSandbox(q, asked);
  return ended.map((esim) => ({ at: esim.at, run: (tx) => expireInSandbox(tx, esim) }));
};

const notices: Source = async (q, asked) => {
  const due = await noticesInSandbox(q, asked);
  return due.map((notice) => ({ at: notice.at, run: (tx) => announceInSandbox(tx, notice) }));
};

/**
 * All that comes due by a sandbox clock; `clocksToSettle` asks the same of all clocks at once. Where two things
 * are due at one moment, the earlier source's is done first.
 */
const sources: readonly Source[] = [notices, expiries];

/** Until when a clock's notices are written; where an earlier version advanced it, until when the calendar's are. */
function sinceOf(db: Read["db"], t: Read["t"], now: Slots<{ now: number }>["now"]) {
  return sql<number>`coalesce(${t.sandboxClocks.notices_through}, ${noticesThroughOf(db, t)}, cast(${now} as bigint))`;
}

const clockOf = statement((db, t, slot: Slots<{ partner_id: PartnerId; now: number }>) =>
  db
    .select({ ahead_ms: t.sandboxClocks.ahead_ms, since: sinceOf(db, t, slot.now).mapWith(Number) })
    .from(t.sandboxClocks)
    .where(isClockOf(t, slot)),
);

/** The first things due for a partner by its sandbox clock, in the order of their moments; null: it has no clock. */
async function dueFor(q: Read, partner_id: PartnerId, limit: number): Promise<{ until: number; due: Due[] } | null> {
  const clock = first(await clockOf(q, { partner_id, now: q.now }));
  if (clock === null) return null;
  const until = q.now + clock.ahead_ms;
  const due: Due[] = [];
  for (const source of sources) due.push(...(await source(q, { partner_id, since: clock.since, until, limit })));
  return { until, due: due.sort((a, b) => a.at - b.at).slice(0, limit) };
}

/** Whether anything is left that a partner's sandbox clock made due. */
export async function isSettling(q: Read, partnerId: PartnerId): Promise<boolean> {
  return ((await dueFor(q, partnerId, 1))?.due.length ?? 0) > 0;
}

const clocksToSettle = statement((db, t, slot: Slots<{ now: number }>, dialect) => {
  const { partner_id, ahead_ms } = t.sandboxClocks;
  const since = sinceOf(db, t, slot.now);
  const until = sql`(cast(${slot.now} as bigint) + ${ahead_ms})`;
  const isBehind = sql`${until} - ${since} >= cast(${MINUTE_MS} as bigint)`;
  return db
    .select({ partner_id })
    .from(t.sandboxClocks)
    .innerJoin(t.partners, eq(t.partners.id, partner_id))
    .where(or(isBehind, hasEndedInSandbox({ db, t }, until), hasNoticesInSandbox({ db, t, dialect }, since, until)))
    .orderBy(partner_id);
});

/**
 * The partners whose advanced sandbox clocks made something due, and once a minute those where nothing is: so that
 * changed thresholds hold for what is ahead. One statement, however many clocks there are.
 */
export async function partnersToSettle(q: Read, _input: null): Promise<PartnerId[]> {
  return (await clocksToSettle(q, { now: q.now })).map(({ partner_id }) => partner_id);
}

const moveNotices = statement((db, t, slot: Slots<{ partner_id: PartnerId; at: number }>) =>
  db.update(t.sandboxClocks).set({ notices_through: slot.at }).where(isClockOf(t, slot)),
);

/**
 * Does what a partner's sandbox clock made due, in the order of the moments at which it came due, however far the clock
 * was advanced at once; at most 500 things. Answers how many. Safe to repeat.
 */
export async function settleStep(tx: Tx, partner_id: PartnerId): Promise<number> {
  const found = await dueFor(tx, partner_id, STEP);
  // It was set back meanwhile.
  if (found === null) return 0;
  for (const { run } of found.due) await run(tx);
  if (found.due.length === 0) await moveNotices(tx, { partner_id, at: found.until });
  return found.due.length;
}
