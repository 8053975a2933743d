import { and, asc, desc, eq, gt, gte, lt, lte, type SQLWrapper, sql } from "drizzle-orm";
import type { EventKind } from "../events/catalog.ts";
import type { PartnerId } from "../kernel/brand.ts";
import { isoTime } from "../kernel/clock.ts";
import type { Environment } from "../kernel/environment.ts";
import { firstUuidOf } from "../kernel/ids.ts";
import type { Owner } from "../kernel/owner.ts";
import { decodeCursor, encodeCursor, newestFirst, oldestFirst, type Position } from "../kernel/page.ts";
import { Problem } from "../kernel/problem.ts";
import { openEvent } from "../outbox/event-payload.ts";
import { eventsOfSubject } from "../outbox/record.ts";
import type { Row, Tables } from "../store/schema/tables.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { isCleared, keptIn } from "../webhooks/clear-events.ts";

/** Which events of a feed. */
export interface FeedFilter {
  owner: Owner;
  kind?: EventKind | undefined;
  subjectId?: string | undefined;
}

/** Where a page begins: after a cursor, with the first event since a time, at this moment, or at the oldest event. */
export type FeedStart = { after: string } | { since: number } | "now" | "oldest";

/** A place in a feed: the number of the event before it, and its ID; "": that event is unknown, or was deleted. */
export type FeedPosition = Position<number>;

/** Some events of a feed, in the order of their commits. */
export interface FeedPage {
  events: Row<"events">[];
  /** More events follow already. */
  hasMore: boolean;
  /** Up to where the feed has been read; events that do not match count. */
  position: FeedPosition;
  /** This feed was never read before; `markFeedRead` notes it. */
  isFirstRead: boolean;
}

type Feed = { partner_id: PartnerId; environment: Environment };

const ofFeed = (t: Tables, slot: Slots<Feed>) =>
  and(eq(t.events.partner_id, slot.partner_id), eq(t.events.environment, slot.environment));

/** A feed with the IDs of its last event and of that with the number `no`; null where no event has it. */
const feedOf = statement((db, t, slot: Slots<Feed & { no: number }>) => {
  const idOf = (no: SQLWrapper) =>
    db
      .select({ id: t.events.id })
      .from(t.events)
      .where(and(ofFeed(t, slot), eq(t.events.feed_no, no)));
  return db
    .select({
      last_no: t.eventFeeds.last_no,
      dropped_no: t.eventFeeds.dropped_no,
      read_at: t.eventFeeds.read_at,
      last_id: sql<string | null>`${idOf(t.eventFeeds.last_no)}`,
      id_at_no: sql<string | null>`${idOf(slot.no)}`,
    })
    .from(t.eventFeeds)
    .where(and(eq(t.eventFeeds.partner_id, slot.partner_id), eq(t.eventFeeds.environment, slot.environment)));
});

type Stretch = Feed & { after: number; until: number; limit: number };

const stretch = statement((db, t, slot: Slots<Stretch & { kind: EventKind | "" }>) =>
  db
    .select()
    .from(t.events)
    .where(
      and(
        ofFeed(t, slot),
        gt(t.events.feed_no, slot.after),
        lte(t.events.feed_no, slot.until),
        sql`(${slot.kind} = '' or ${t.events.kind} = ${slot.kind})`,
        keptIn(t),
      ),
    )
    .orderBy(asc(t.events.feed_no))
    .limit(slot.limit),
);

const nextAfter = statement((db, t, slot: Slots<Feed & { after: number }>) =>
  db
    .select({ no: t.events.feed_no, id: t.events.id })
    .from(t.events)
    .where(and(ofFeed(t, slot), gt(t.events.feed_no, slot.after)))
    .orderBy(asc(t.events.feed_no))
    .limit(1),
);

type Bounds = Pick<Row<"eventFeeds">, "last_no" | "dropped_no"> & { last_id: string | null };

/**
 * The number before the first event that was written at `since` or later, found by halves: ids begin with the time, and
 * rise with the numbers. `occurred_at` may lie before both.
 */
async function numberAt(q: Read, feed: Feed, since: number, { last_no, dropped_no }: Bounds): Promise<number> {
  const from = firstUuidOf(since);
  let [before, until] = [dropped_no, last_no];
  while (before < until) {
    const middle = Math.floor((before + until) / 2);
    const next = first(await nextAfter(q, { ...feed, after: middle }));
    if (next?.no == null || next.id >= from) until = middle;
    else before = next.no;
  }
  return before;
}

function bindingOf({ owner }: Pick<FeedFilter, "owner">) {
  return { list: "events", ...owner };
}

/** The cursor of a position in a feed, for any filter. */
export function feedCursor(filter: FeedFilter, position: FeedPosition): string {
  return encodeCursor(position, bindingOf(filter));
}

/** The position in a cursor. Those of 0.1.0 are bound to their filter, and hold for it. */
function positionIn(cursor: string, filter: FeedFilter): Position<number> {
  const { kind, subjectId } = filter;
  const sample = oldestFirst.key;
  if (kind === undefined && subjectId === undefined) return decodeCursor(cursor, bindingOf(filter), sample);
  try {
    return decodeCursor(cursor, bindingOf(filter), sample);
  } catch {
    return decodeCursor(cursor, { ...bindingOf(filter), kind, filter: subjectId }, sample);
  }
}

/**
 * Numbers that one read looks through at most: a kind may be rare, and other requests wait for the read on SQLite. A
 * page may therefore be empty although more events follow.
 */
const MOST_READ = 5_000;

/**
 * Some events of a feed from `start` on, oldest first: every event is on exactly one page of those that follow one
 * another, whichever node commits it and when. Throws `invalid_cursor`, and `cursor_expired` where events after the
 * cursor were dropped, or the database was restored to a state without the cursor's event (docs/decisions/0068).
 */
export async function readFeed(
  q: Read,
  input: { filter: FeedFilter; start: FeedStart; limit: number },
): Promise<FeedPage> {
  const { filter, start, limit } = input;
  const { kind, subjectId, owner } = filter;
  const feed = { partner_id: owner.partnerId, environment: owner.environment };
  const cursor = typeof start === "object" && "after" in start ? positionIn(start.after, filter) : null;
  const found = first(await feedOf(q, { ...feed, no: cursor?.key ?? 0 })) ?? UNUSED;
  if (cursor !== null) refuseExpired(cursor, found);
  const after = cursor?.key ?? (await startOf(q, { feed, start, bounds: found }));
  const read: Reading = { feed, kind: kind ?? "", after, last: found.last_no, limit: limit + 1 };
  const { rows, until } = await (subjectId === undefined ? nextOfFeed(q, read) : nextOfSubject(q, read, subjectId));
  const page = rows.slice(0, limit);
  const end = rows.length > limit ? page.at(-1) : undefined;
  const position = end === undefined ? await positionOf(q, feed, until, found) : positionBehind(end);
  // One that cannot be opened is reported, and left out.
  const events = page.flatMap((event) => openEvent(q, event) ?? []);
  return { events, hasMore: position.key < found.last_no, position, isFirstRead: found.read_at === null };
}

/** A feed without a row: it has no event, and was never read. */
const UNUSED = { last_no: 0, dropped_no: 0, read_at: null, last_id: null, id_at_no: null };

interface Reading {
  feed: Feed;
  /** "": of any kind. */
  kind: EventKind | "";
  after: number;
  /** The number of the feed's last event. */
  last: number;
  limit: number;
}

async function nextOfFeed(q: Read, { feed, kind, after, last, limit }: Reading) {
  const until = Math.min(after + MOST_READ, last);
  return { rows: await stretch(q, { ...feed, kind, after, until, limit }), until };
}

/** A subject has few events: all of them are read. */
async function nextOfSubject(q: Read, { feed, kind, after, last, limit }: Reading, subjectId: string) {
  const rows = (await eventsOfSubject(q, subjectId))
    .filter((event) => event.partner_id === feed.partner_id && event.environment === feed.environment)
    .filter((event) => (kind === "" || event.kind === kind) && !isCleared(event))
    .filter(({ feed_no }) => feed_no !== null && feed_no > after)
    .sort((a, b) => (a.feed_no ?? 0) - (b.feed_no ?? 0));
  return { rows: rows.slice(0, limit), until: last };
}

/** The number after which a reader without a cursor begins. */
async function startOf(
  q: Read,
  { feed, start, bounds }: { feed: Feed; start: FeedStart; bounds: Bounds },
): Promise<number> {
  if (start === "now") return bounds.last_no;
  return typeof start === "object" && "since" in start ? numberAt(q, feed, start.since, bounds) : bounds.dropped_no;
}

/** The position behind an event of a feed. */
export function positionBehind({ feed_no, id }: Pick<Row<"events">, "feed_no" | "id">): FeedPosition {
  if (feed_no === null) throw new Error("this event is in no feed");
  return { key: feed_no, id };
}

/** The position behind the event with a number. */
async function positionOf(q: Read, feed: Feed, no: number, { last_no, last_id }: Bounds): Promise<FeedPosition> {
  if (no === last_no) return { key: no, id: last_id ?? "" };
  const next = first(await nextAfter(q, { ...feed, after: no - 1 }));
  return { key: no, id: next?.no === no ? next.id : "" };
}

/**
 * Throws `cursor_expired` unless all that follows a cursor follows it here too. A cursor without an ID is of an earlier
 * version, or its event is deleted: then its number alone is compared.
 */
function refuseExpired({ key, id }: FeedPosition, feed: Bounds & { id_at_no: string | null }): void {
  if (key < feed.dropped_no) {
    throw new Problem("cursor_expired", "Events after this cursor were dropped: they are kept for 90 days.");
  }
  const isOther = id !== "" && feed.id_at_no !== null && feed.id_at_no !== id;
  if (key <= feed.last_no && !isOther) return;
  throw new Problem(
    "cursor_expired",
    "The database was restored to a time before this cursor. Begin again with `since`, a time before the restored " +
      "state; events that you have keep their `event_id`.",
  );
}

/** Which events of a feed, and which page of them. */
interface RecentFilter {
  owner: Owner;
  kind?: EventKind | undefined;
  limit: number;
  cursor?: string | undefined;
}

type RecentStretch = Feed & { from: number; before: number; limit: number; kind: EventKind | "" };

const lastNo = statement((db, t, slot: Slots<Feed>) =>
  db
    .select({ last_no: t.eventFeeds.last_no, dropped_no: t.eventFeeds.dropped_no })
    .from(t.eventFeeds)
    .where(and(eq(t.eventFeeds.partner_id, slot.partner_id), eq(t.eventFeeds.environment, slot.environment))),
);

const recentStretch = statement((db, t, slot: Slots<RecentStretch>) =>
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
  const rows = await recentStretch(q, { ...feed, from, before, limit: limit + 1, kind: kind ?? "" });
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
