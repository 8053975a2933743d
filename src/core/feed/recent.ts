import { and, desc, eq, gte, lt, sql } from "drizzle-orm";
import type { EventKind } from "../events/catalog.ts";
import type { PartnerId } from "../kernel/brand.ts";
import { isoTime } from "../kernel/clock.ts";
import type { Environment } from "../kernel/environment.ts";
import type { Owner } from "../kernel/owner.ts";
import { decodeCursor, encodeCursor, newestFirst } from "../kernel/page.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { keptIn } from "../webhooks/clear-events.ts";

/** Which events of a feed, and which page of them. */
export interface RecentFilter {
  owner: Owner;
  kind?: EventKind | undefined;
  limit: number;
  cursor?: string | undefined;
}

type Feed = { partner_id: PartnerId; environment: Environment };
type Stretch = Feed & { from: number; before: number; limit: number; kind: EventKind | "" };

const lastNo = statement((db, t, slot: Slots<Feed>) =>
  db
    .select({ last_no: t.eventFeeds.last_no, dropped_no: t.eventFeeds.dropped_no })
    .from(t.eventFeeds)
    .where(and(eq(t.eventFeeds.partner_id, slot.partner_id), eq(t.eventFeeds.environment, slot.environment))),
);

const stretch = statement((db, t, slot: Slots<Stretch>) =>
  db
    .select({
      id: t.events.id,
      kind: t.events.kind,
      subject_id: t.events.subject_id,
      occurred_at: t.events.occurred_at,
      feed_no: t.events.feed_no,
    })
    .from(t.events)
    .where(
      and(
        eq(t.events.partner_id, slot.partner_id),
        eq(t.events.environment, slot.environment),
        gte(t.events.feed_no, slot.from),
        lt(t.events.feed_no, slot.before),
        sql`(${slot.kind} = '' or ${t.events.kind} = ${slot.kind})`,
        keptIn(t),
      ),
    )
    .orderBy(desc(t.events.feed_no))
    .limit(slot.limit),
);

/**
 * Numbers that one read looks through at most: a kind may be rare, and other requests wait for the read on SQLite. A
 * page may therefore be short, or empty, although more events follow.
 */
const MOST_READ = 5_000;

/**
 * A page of a feed's events without their payloads, newest first, as people look at it; programs follow `readFeed`.
 * Throws `invalid_cursor`.
 */
export async function recentEvents(q: Read, filter: RecentFilter) {
  const { owner, kind, limit, cursor } = filter;
  const binding = { list: "recent events", ...owner, kind };
  const feed = { partner_id: owner.partnerId, environment: owner.environment };
  const { last_no, dropped_no } = first(await lastNo(q, feed)) ?? { last_no: 0, dropped_no: 0 };
  const at = cursor === undefined ? last_no + 1 : decodeCursor(cursor, binding, newestFirst.key).key;
  const before = Math.min(at, last_no + 1);
  const from = Math.max(before - MOST_READ, dropped_no + 1);
  const rows = await stretch(q, { ...feed, from, before, limit: limit + 1, kind: kind ?? "" });
  const page = rows.slice(0, limit);
  const end = rows.length > limit ? page.at(-1)?.feed_no : from;
  const isOver = rows.length <= limit && from <= dropped_no + 1;
  const next = isOver || end == null ? null : encodeCursor({ key: end, id: "" }, binding);
  const data = page.map(({ id, kind, subject_id, occurred_at }) => {
    return { id, kind, subject_id, occurred_at: isoTime(occurred_at) };
  });
  return { data, next_cursor: next };
}

/** One event in that list. */
export type RecentEvent = Awaited<ReturnType<typeof recentEvents>>["data"][number];
