import { eventKinds } from "../../../core/events/catalog.ts";
import type { CreatedWebhook } from "../../client/answers.ts";
import { apiPath } from "../../client/api.ts";
import { command } from "../../frame/command.ts";
import { argument, required, text, wordList } from "../../kernel/input.ts";
import { recordResult } from "../../output/result.ts";
import { WEBHOOK_JSON, webhookFields } from "./view.ts";

export default command({
  target: "partner",
  effects: "Adds an endpoint. Its signing secret is printed this once and cannot be read again.",
  json: `the API's body: {webhook: ${WEBHOOK_JSON}, secret}`,
  examples: [
    "webhooks create https://shop.example.com/hooks --events order.fulfilled,esims.ready --partner acme",
    "webhooks create https://shop.example.com/hooks --events order.created --partner acme --sandbox --json",
    "webhooks create https://shop.example.com/hooks --events '*' --partner acme",
  ],
  args: { url: argument("url", "where events are posted to") },
  options: {
    events: required(wordList("--events <kinds>", eventKinds, "kinds, separated by commas, or '*' for all")),
    description: text("--description <text>", "a note that identifies it"),
  },
  async run(context, { url, events, description }) {
    const body = { url, events, ...(description === undefined ? {} : { description }) };
    const { body: created } = await context.withApi((api) =>
      api.request<CreatedWebhook>("POST", apiPath`/webhooks`, { body }),
    );
    return recordResult(
      created,
      (sheet) => ({ ...webhookFields(sheet, created.webhook), secret: created.secret }),
      "The secret is shown this once; the receiver needs it to check signatures.",
    );
  },
});
