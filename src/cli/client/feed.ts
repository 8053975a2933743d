import { CliError } from "../kernel/errors.ts";
import type { EventPage, FeedEvent } from "./answers.ts";
import { type Api, apiPath } from "./api.ts";

/** Seconds that one request waits for events: the most that the API allows. */
const WAIT_S = 25;

/** Where the feed is read from, and what of it. */
export interface FeedQuery {
  after?: string | undefined;
  since?: string | undefined;
  kind?: string | undefined;
  subject_id?: string | undefined;
  limit?: number | undefined;
}

/** The pages of the feed from there on, to its end. */
export async function* feedPages(api: Api, query: FeedQuery): AsyncGenerator<EventPage> {
  for (let { after, since } = query; ; since = undefined) {
    const { body }: { body: EventPage } = await api.request("GET", apiPath`/events`, {
      query: { ...query, after, since },
    });
    yield body;
    if (!body.pagination.has_more) return;
    after = body.pagination.next_cursor;
  }
}

/** A cursor that the server accepts: `after`, or that of this moment. What is recorded from then on comes after it. */
export async function feedStart(api: Api, after?: string): Promise<string> {
  const query = { after: after ?? "now", limit: 1 };
  const { body } = await api.request<EventPage>("GET", apiPath`/events`, { query });
  return after ?? body.pagination.next_cursor;
}

/** Some events of the feed that follow one another, and the cursors before and behind them. */
export interface FeedPart {
  /** Null: the beginning of what was asked for. */
  after: string | null;
  events: FeedEvent[];
  next: string;
}

/**
 * The cursor behind the first `count` events of a part. The one before it where the server is away, or no longer has
 * them so: those events come again.
 */
export async function cursorWithin(api: Api, { after, events }: FeedPart, count: number): Promise<string | null> {
  if (count === 0 || after === null) return after;
  const asked = { query: { after, limit: count } };
  const answer = await api.request<EventPage>("GET", apiPath`/events`, asked).catch((error: unknown) => {
    if (!isPassing(error)) throw error;
  });
  if (answer === undefined) return after;
  const { data, pagination } = answer.body;
  return data.at(-1)?.event_id === events[count - 1]?.event_id ? pagination.next_cursor : after;
}

/**
 * The parts of the feed from there on, and what comes in, by long poll; never ends by itself. A request that fails is
 * sent again, from the same cursor, once `recover` has returned; what that throws ends it.
 */
export async function* followFeed(
  api: Api,
  query: FeedQuery,
  recover: (error: unknown) => Promise<void> = Promise.reject.bind(Promise),
): AsyncGenerator<FeedPart> {
  let { after, since } = query;
  while (true) {
    const asked = { query: { ...query, limit: 100, wait: WAIT_S, after, since } };
    const answer = await api.request<EventPage>("GET", apiPath`/events`, asked).catch(recover);
    if (answer === undefined) continue;
    const { data: events, pagination } = answer.body;
    yield { after: after ?? null, events, next: pagination.next_cursor };
    after = pagination.next_cursor;
    since = undefined;
  }
}

/** What a request fails with while its server restarts, or the way there is broken. */
const passing = /^(server_unreachable|connection_lost|not_esimctl|unavailable|internal|http_5\d\d)$/;

/** Whether a request to a server that answered before may succeed later. */
export function isPassing(error: unknown): error is CliError {
  return error instanceof CliError && passing.test(error.code);
}
