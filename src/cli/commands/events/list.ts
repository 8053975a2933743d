import { eventKinds } from "../../../core/events/catalog.ts";
import { systemClock } from "../../../core/kernel/clock.ts";
import type { EventPage } from "../../client/answers.ts";
import { feedPages } from "../../client/feed.ts";
import { isoOf, timesOf } from "../../frame/all-partners.ts";
import { command } from "../../frame/command.ts";
import { choice, flag, integer, text } from "../../kernel/input.ts";
import { since as sinceOption } from "../../kernel/input-time.ts";
import { EVENT_JSON, eventColumns } from "./view.ts";

export default command({
  target: "partner",
  shows: "rows",
  effects: "Reads only. Oldest first, in the order of commits; events are kept for 90 days.",
  json: `the API's body: {data: [${EVENT_JSON}], pagination}`,
  examples: ["events list --since 24h", "events list --kind order.fulfilled --all --partner acme --json"],
  args: {},
  options: {
    limit: integer("--limit <n>", "events a page, 1 to 100 (default 20)", { min: 1, max: 100 }),
    after: text("--after <cursor>", "where the page starts: next_cursor of the page before"),
    all: flag("--all", "all pages, one after the other"),
    kind: choice("--kind <kind>", eventKinds, "only this kind"),
    subject: text("--subject-id <id>", "only events about this order, eSIM, activation or order item"),
    since: sinceOption("--since <time>", "from this time on: 2026-03-01T12:00:00Z, or 24h for that long ago"),
    until: sinceOption("--until <time>", "before this time, given in the same way"),
  },
  async run(context, { limit, after, all, kind, subject, ...given }) {
    const { since, until = Number.POSITIVE_INFINITY } = timesOf(given, systemClock.now());
    const query = { limit: all ? 100 : limit, after, since: isoOf(since), kind, subject_id: subject };
    let last: EventPage["pagination"] | null = null;
    let isPast = false;
    return context.withApi((api) =>
      context.print({
        key: "data",
        columns: eventColumns,
        empty: "No events.",
        pages: (async function* () {
          for await (const { data, pagination } of feedPages(api, query)) {
            last = pagination;
            const wanted = data.filter(({ timestamp }) => Date.parse(timestamp) < until);
            isPast = wanted.length < data.length;
            yield wanted;
            // The order is that of commits: events of neighboring moments may change places, pages of them do not.
            if (!all || (data.length > 0 && wanted.length === 0)) return;
          }
        })(),
        rest: (count) => ({ pagination: { ...last, count } }),
        note: () => (last?.has_more && !isPast ? `There is more: --all, or --after ${last.next_cursor}` : undefined),
      }),
    );
  },
});
