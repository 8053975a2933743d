import type { FastifyReply, FastifyRequest } from "fastify";
import type { Static } from "typebox";
import { markFeedRead } from "../../core/feed/mark-read.ts";
import {
  type FeedFilter,
  type FeedPage,
  type FeedStart,
  feedCursor,
  positionBehind,
  readFeed,
} from "../../core/feed/read.ts";
import { showEvent } from "../../core/feed/show.ts";
import { instantOf } from "../../core/kernel/clock.ts";
import { invalid } from "../../core/kernel/problem.ts";
import { envelope } from "../../core/webhooks/envelope.ts";
import { type DaemonContext, isLocal, type Principal } from "../context/context.ts";
import type { App, RoutePlugin } from "../context/fastify.ts";
import { joinedEvent } from "../feed/joined-event.ts";
import { createLongPolls, type LongPolls, MOST_WAITING } from "../feed/long-polls.ts";
import { principalOf } from "../plugins/access.ts";
import { endOf } from "../plugins/turns.ts";
import { Event, EventPage, EventParams, EventQuery } from "../schemas/event.ts";

/** The feed of a partner's events. */
export const eventRoutes: RoutePlugin = (app, context) => {
  feedRoute(app, context);
  showRoute(app, context);
};

function ownerOf({ partnerId, environment }: Principal) {
  return { partnerId, environment };
}

function feedRoute(app: App, context: DaemonContext): void {
  const { store, clock } = context;
  const polls = createLongPolls(store);

  app.route({
    method: "GET",
    url: "/api/v1/events",
    config: { scope: "read:webhooks", problems: ["invalid_cursor", "cursor_expired"] },
    schema: {
      operationId: "listEvents",
      tags: ["Events"],
      summary: "Follow your events, oldest first",
      description:
        "Every event of the environment of your credential, whether or not an endpoint is registered, in the order " +
        "of commits: a reader that follows `next_cursor` gets every event once and skips none. Events are kept for " +
        "90 days. With `wait`, and without an event yet, the response comes with the first one, or empty when the " +
        `time is over; at most ${MOST_WAITING} requests of a credential wait at the same time, and 50 of all your ` +
        "credentials. A cursor from before what is kept, or from beyond the state to which the database was " +
        "restored, is 410 `cursor_expired`.",
      querystring: EventQuery,
      response: { 200: EventPage },
    },
    async handler(request, reply) {
      const principal = principalOf(request);
      const { kind, subject_id: subjectId, limit, wait } = request.query;
      const filter = { owner: ownerOf(principal), kind, subjectId };
      const read = (start: FeedStart) => store.read(readFeed, { filter, start, limit });
      const start = startOf(request.query);
      let page = await read(start);
      if (page.isFirstRead) {
        await store.write(markFeedRead, filter.owner, request.id, filter.owner);
        page = await read(start);
      }
      if (wait === 0) return eventPage(context, filter, page);
      if (page.events.length > 0) return confirmedPage(context, { request, filter }, page);
      const left = (principal.expiresAt ?? Number.MAX_SAFE_INTEGER) - clock.now();
      const leave = isLocal(principal) ? () => {} : enter(polls, principal, reply);
      const ended = new AbortController();
      const timer = setTimeout(() => ended.abort(), Math.max(0, Math.min(wait * 1_000, left)));
      try {
        const until = AbortSignal.any([ended.signal, endOf(app, reply)]);
        return await confirmedPage(context, { request, filter }, await waited({ polls, read, filter, until }, page));
      } finally {
        clearTimeout(timer);
        leave();
      }
    },
  });
}

/** Where the feed is read from. Throws `validation`. */
function startOf({ after, since }: Pick<Static<typeof EventQuery>, "after" | "since">): FeedStart {
  if (since === undefined) {
    if (after === undefined) return "oldest";
    return after === "now" ? "now" : { after };
  }
  if (after !== undefined) throw invalid({ since: ["must not be given together with after"] });
  const at = instantOf(since);
  if (at === null) throw invalid({ since: ["must be an ISO 8601 time with its zone, such as 2026-03-01T09:30:00Z"] });
  return { since: at };
}

function enter(polls: LongPolls, principal: Principal, reply: FastifyReply): () => void {
  reply.header("retry-after", 1);
  const leave = polls.enter(principal);
  reply.removeHeader("retry-after");
  return leave;
}

/** The body of a long poll. The credential may have been revoked since it was sent: then it gets no event. */
async function confirmedPage(
  context: DaemonContext,
  { request, filter }: { request: FastifyRequest; filter: FeedFilter },
  page: FeedPage,
) {
  const body = await eventPage(context, filter, page);
  if (body.data.length > 0) await request.confirmAccess();
  return body;
}

interface Waiting {
  polls: LongPolls;
  read(start: FeedStart): Promise<FeedPage>;
  filter: FeedFilter;
  /** Aborted when the time is over, the token expires, the connection is closed or the daemon stops. */
  until: AbortSignal;
}

/** The first page after `page` that has an event, or the last one without when the wait ends. */
async function waited({ polls, read, filter, until }: Waiting, page: FeedPage): Promise<FeedPage> {
  let last = page;
  while (last.events.length === 0 && !until.aborted) {
    if (!last.hasMore) await polls.grown(filter.owner, last.position.key, until);
    if (until.aborted) break;
    last = await read({ after: feedCursor(filter, last.position) });
  }
  return last;
}

function showRoute(app: App, { store, addresses }: DaemonContext): void {
  app.route({
    method: "GET",
    url: "/api/v1/events/:id",
    config: { scope: "read:webhooks", problems: ["not_found"] },
    schema: {
      operationId: "getEvent",
      tags: ["Events"],
      summary: "Read one event",
      description: "The event as webhooks carry it. One whose personal data was erased is not found.",
      params: EventParams,
      response: { 200: Event },
    },
    async handler(request) {
      const event = await store.read(showEvent, { owner: ownerOf(principalOf(request)), id: request.params.id });
      return envelope(await joinedEvent(store, event, addresses.publicUrl));
    },
  });
}

/** Bytes of joined data after which a page ends (250 KB is the most that one event has). */
const LONGEST_PAGE = 1_000_000;

/** The body of a page of the feed: as many of its events as fit, with what joins them when they are sent. */
async function eventPage(
  { store, addresses }: Pick<DaemonContext, "store" | "addresses">,
  filter: FeedFilter,
  page: FeedPage,
) {
  const data: ReturnType<typeof envelope>[] = [];
  let bytes = 0;
  let { position, hasMore } = page;
  for (const event of page.events) {
    const sent = envelope(await joinedEvent(store, event, addresses.publicUrl));
    data.push(sent);
    if (event.expands === null) continue;
    bytes += JSON.stringify(sent.data).length;
    if (bytes < LONGEST_PAGE || event === page.events.at(-1)) continue;
    position = positionBehind(event);
    hasMore = true;
    break;
  }
  return { data, pagination: { has_more: hasMore, next_cursor: feedCursor(filter, position), count: data.length } };
}
