import { type FeedFilter, type FeedPage, feedCursor, positionBehind } from "../../core/feed/read.ts";
import { envelope } from "../../core/webhooks/envelope.ts";
import type { DaemonContext } from "../context/context.ts";
import { joinedEvent } from "./joined-event.ts";

/** Bytes of joined data after which a page ends (250 KB is the most that one event has). */
const LONGEST_PAGE = 1_000_000;

/** The body of a page of the feed: as many of its events as fit, with what joins them when they are sent. */
export async function eventPage(
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
