import { sql } from "drizzle-orm";
import { Temporal } from "temporal-polyfill";
import { type Actor, recordAudit } from "../audit/record.ts";
import { noticesThroughOf } from "../esims/notices-through.ts";
import type { PartnerId } from "../kernel/brand.ts";
import { isoTime } from "../kernel/clock.ts";
import { invalid } from "../kernel/problem.ts";
import { aheadOf, isClockOf } from "../platform/sandbox-clock.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { isSettling } from "./settle.ts";

const DAY_MS = 86_400_000;
/** How far ahead of the system's time a sandbox clock may be, in days. */
const MOST_DAYS_AHEAD = 400;

/** The sandbox clock of a partner. `advancing`: what it made due is still being done. */
export interface SandboxClock {
  now: string;
  system_time: string;
  ahead_ms: number;
  status: "ready" | "advancing";
}

/** A partner's sandbox clock; it shows the system's time until it is advanced. */
export async function sandboxClock(q: Read, partnerId: PartnerId): Promise<SandboxClock> {
  const ahead_ms = await aheadOf(q, { partnerId, environment: "sandbox" });
  const status = ahead_ms > 0 && (await isSettling(q, partnerId)) ? "advancing" : "ready";
  return { now: isoTime(q.now + ahead_ms), system_time: isoTime(q.now), ahead_ms, status };
}

type Advance = { partner_id: PartnerId; by: number; most: number; now: number };

const advance = statement((db, t, slot: Slots<Advance>) => {
  const { partner_id, ahead_ms, notices_through } = t.sandboxClocks;
  const after = sql`${ahead_ms} + cast(${slot.by} as bigint)`;
  // From now on notices of expiry follow this clock, beginning where those of the calendar end.
  const through = sql`coalesce(${noticesThroughOf(db, t)}, cast(${slot.now} as bigint))`;
  return db
    .insert(t.sandboxClocks)
    .values({ partner_id: slot.partner_id, ahead_ms: sql`cast(${slot.by} as bigint)`, notices_through: through })
    .onConflictDoUpdate({
      target: partner_id,
      set: { ahead_ms: after, notices_through: sql`coalesce(${notices_through}, excluded.notices_through)` },
      setWhere: sql`${after} <= cast(${slot.most} as bigint)`,
    })
    .returning({ ahead_ms });
});

interface Acting {
  partnerId: PartnerId;
  actor: Actor;
}

/**
 * Moves a partner's sandbox clock forward by an ISO 8601 duration; what becomes due is done within seconds. Throws
 * `validation` for what is no duration, does not go forward, or would be more than 400 days ahead.
 */
export async function advanceClock(tx: Tx, input: Acting & { advance: string }): Promise<SandboxClock> {
  const { partnerId, actor } = input;
  const ahead = await aheadOf(tx, { partnerId, environment: "sandbox" });
  const by = durationMs(input.advance, tx.now + ahead);
  if (by === null) throw refused("must be an ISO 8601 duration such as P7D or PT36H");
  if (by < 1) throw refused("must go forward");
  const most = MOST_DAYS_AHEAD * DAY_MS;
  const moved = by > most ? null : first(await advance(tx, { partner_id: partnerId, by, most, now: tx.now }));
  if (moved === null) throw refused(`would be more than ${MOST_DAYS_AHEAD} days ahead of the system's time`);
  await audit(tx, { partnerId, actor }, "sandbox.advance", input.advance);
  tx.signal("sandbox");
  return sandboxClock(tx, partnerId);
}

function refused(words: string) {
  return invalid({ advance: [words] });
}

const drop = statement((db, t, slot: Slots<{ partner_id: PartnerId }>) =>
  db.delete(t.sandboxClocks).where(isClockOf(t, slot)).returning({ ahead_ms: t.sandboxClocks.ahead_ms }),
);

/** Sets a partner's sandbox clock back to the system's time. Records keep their times; what lies ahead waits. */
export async function resetClock(tx: Tx, { partnerId, actor }: Acting): Promise<SandboxClock> {
  const dropped = await drop(tx, { partner_id: partnerId });
  if (dropped.length > 0) await audit(tx, { partnerId, actor }, "sandbox.reset", null);
  return sandboxClock(tx, partnerId);
}

function audit(tx: Tx, { partnerId, actor }: Acting, action: string, note: string | null): Promise<void> {
  return recordAudit(tx, { actor, action, targetKind: "sandbox", targetId: partnerId, partnerId, note });
}

/**
 * How long an ISO 8601 duration such as P7D or PT36H is from `from` (ms) on, in ms; months and years are UTC's. Null
 * for what is no duration or lasts beyond the calendar.
 */
function durationMs(text: string, from: number): number | null {
  try {
    const start = Temporal.Instant.fromEpochMilliseconds(from).toZonedDateTimeISO("UTC");
    return start.add(Temporal.Duration.from(text)).epochMilliseconds - from;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
