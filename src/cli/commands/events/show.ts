import type { FeedEvent } from "../../client/answers.ts";
import { apiPath } from "../../client/api.ts";
import { command } from "../../frame/command.ts";
import { argument } from "../../kernel/input.ts";
import { recordResult } from "../../output/result.ts";
import { moment } from "../../output/words.ts";
import { EVENT_JSON } from "./view.ts";

export default command({
  target: "partner",
  shows: "record",
  effects: "Reads only.",
  json: `the API's body: ${EVENT_JSON}`,
  examples: ["events show 019c… --partner acme", "events show 019c… --json"],
  args: { id: argument("id", "the event") },
  options: {},
  async run(context, { id }) {
    const { body } = await context.withApi((api) => api.request<FeedEvent>("GET", apiPath`/events/${id}`));
    const shownValue = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
    return recordResult(body, () => ({
      event: body.event,
      id: body.event_id,
      time: moment(body.timestamp),
      ...Object.fromEntries(Object.entries(body.data).map(([name, value]) => [`data.${name}`, shownValue(value)])),
    }));
  },
});
