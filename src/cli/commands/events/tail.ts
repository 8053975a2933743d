import { eventKinds } from "../../../core/events/catalog.ts";
import { isoTime, systemClock } from "../../../core/kernel/clock.ts";
import type { FeedEvent } from "../../client/answers.ts";
import type { Api } from "../../client/api.ts";
import { type FeedQuery, feedPages, followFeed } from "../../client/feed.ts";
import { command } from "../../frame/command.ts";
import { usageError } from "../../kernel/errors.ts";
import { choice, toggle } from "../../kernel/input.ts";
import { momentOf, since as sinceOption } from "../../kernel/input-time.ts";
import { EVENT_JSON, eventLine } from "./view.ts";

const HOUR_MS = 3_600_000;

export default command({
  target: "partner",
  effects:
    "Reads only. Prints the events since a time, oldest first. On a terminal it goes on with what comes in, until " +
    "Ctrl-C; elsewhere, and with --json, only with --follow or not at all.",
  json: `{data: [${EVENT_JSON}], count}`,
  examples: ["events tail --partner acme", "events tail --since 24h --kind order.fulfilled --no-follow --json"],
  args: {},
  options: {
    kind: choice("--kind <kind>", eventKinds, "only this kind"),
    since: sinceOption("--since <time>", "from this time on: 2026-03-01T12:00:00Z, or 24h (default: 1h)"),
    follow: toggle("follow", "go on with what comes in, or not (default: on a terminal)"),
  },
  async run(context, { kind, since, follow }) {
    const { json } = context.globals;
    if (json && follow === true) {
      throw usageError("--follow never ends, and --json is one document.", "Leave one of them out.");
    }
    const query = { kind, since: isoTime(momentOf(since ?? { ago: HOUR_MS }, systemClock.now())), limit: 100 };
    if (json) return context.withApi(async (api) => ({ json: await allOf(api, query), text: () => "" }));
    const { makeSheet } = await import("../../output/make-sheet.ts");
    const sheet = makeSheet(process.stdout, context.globals);
    const show = (events: readonly FeedEvent[]) => {
      for (const one of events) process.stdout.write(`${eventLine(sheet, one)}\n`);
    };
    await context.withApi(async (api) => {
      if (follow ?? process.stdout.isTTY === true) for await (const { events } of followFeed(api, query)) show(events);
      else for await (const { data } of feedPages(api, query)) show(data);
    });
    return null;
  },
});

async function allOf(api: Api, query: FeedQuery): Promise<{ data: FeedEvent[]; count: number }> {
  const events: FeedEvent[] = [];
  for await (const { data } of feedPages(api, query)) events.push(...data);
  return { data: events, count: events.length };
}
