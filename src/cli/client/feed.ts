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

/** The pages of the feed from there on, and what comes in, by long poll; never ends by itself. */
export async function* followFeed(api: Api, query: FeedQuery): AsyncGenerator<FeedEvent[]> {
  for (let { after, since } = query; ; since = undefined) {
    const asked = { query: { ...query, limit: 100, wait: WAIT_S, after, since } };
    const { body }: { body: EventPage } = await api.request("GET", apiPath`/events`, asked);
    yield body.data;
    after = body.pagination.next_cursor;
  }
}
