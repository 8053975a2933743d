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

/** The cursor of this moment: what is recorded from now on comes after it. */
export async function feedEnd(api: Api): Promise<string> {
  const { body } = await api.request<EventPage>("GET", apiPath`/events`, { query: { after: "now", limit: 1 } });
  return body.pagination.next_cursor;
}

/**
 * The pages of the feed from there on, and what comes in, by long poll; never ends by itself. A request that fails is
 * sent again, from the same cursor, once `recover` has returned; what that throws ends it.
 */
export async function* followFeed(
  api: Api,
  query: FeedQuery,
  recover: (error: unknown) => Promise<void> = Promise.reject.bind(Promise),
): AsyncGenerator<FeedEvent[]> {
  let { after, since } = query;
  while (true) {
    const asked = { query: { ...query, limit: 100, wait: WAIT_S, after, since } };
    const answer = await api.request<EventPage>("GET", apiPath`/events`, asked).catch(recover);
    if (answer === undefined) continue;
    yield answer.body.data;
    after = answer.body.pagination.next_cursor;
    since = undefined;
  }
}

/** What a request fails with while its server restarts, or the way there is broken. */
const passing = /^(server_unreachable|connection_lost|not_esimctl|unavailable|internal|http_5\d\d)$/;

/** Whether a request to a server that answered before may succeed later. */
export function isPassing(error: unknown): error is CliError {
  return error instanceof CliError && passing.test(error.code);
}
