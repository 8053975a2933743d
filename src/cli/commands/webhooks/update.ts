import { eventKinds } from "../../../core/events/catalog.ts";
import { command } from "../../frame/command.ts";
import { usageError } from "../../kernel/errors.ts";
import { argument, text, wordList } from "../../kernel/input.ts";
import { changeWebhook } from "./change.ts";
import { DETAIL_JSON, detailResult } from "./view.ts";

export default command({
  target: "partner",
  effects:
    "Changes what is given; what is left out stays. Deliveries that wait go to the new address. The signing secret " +
    "stays: webhooks rotate-secret replaces it.",
  json: `the API's body: ${DETAIL_JSON}`,
  examples: [
    "webhooks update 019c… --url https://shop.example.com/hooks/esim",
    "webhooks update 019c… --events order.fulfilled,order.failed --description none --partner acme",
  ],
  args: { id: argument("id", "the endpoint") },
  options: {
    url: text("--url <url>", "where events are posted to"),
    events: wordList("--events <kinds>", eventKinds, "kinds in place of the present ones, or '*' for all"),
    description: text("--description <text>", "a note that identifies it; or none"),
  },
  async run(context, { id, url, events, description }) {
    if (url === undefined && events === undefined && description === undefined) {
      throw usageError("There is nothing to change.", "Give --url, --events or --description.");
    }
    const changed = await changeWebhook(context, id, {
      ...(url === undefined ? {} : { url }),
      ...(events === undefined ? {} : { events }),
      ...(description === undefined ? {} : { description: description === "none" ? null : description }),
    });
    return detailResult(changed);
  },
});
