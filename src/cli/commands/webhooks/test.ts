import { eventKinds } from "../../../core/events/catalog.ts";
import type { SampleSent } from "../../client/answers.ts";
import { apiPath } from "../../client/api.ts";
import { command } from "../../frame/command.ts";
import { argument, choice, required } from "../../kernel/input.ts";
import { recordResult } from "../../output/result.ts";
import { ownerOfWebhook } from "./view.ts";

export default command({
  target: "partner",
  effects:
    "A running daemon sends a sample event to this endpoint only, whether it asks for the kind or not. Its data says " +
    "test: true; the feed of events does not have it.",
  json: "the API's body: {event, event_id, delivery_id}",
  examples: [
    "webhooks test 019c… --event order.created",
    "webhooks test 019c… --event esims.ready --partner acme --sandbox --json",
  ],
  args: { id: argument("id", "the endpoint") },
  options: { event: required(choice("--event <kind>", eventKinds, "the kind of event")) },
  async run(context, { id, event }) {
    const { body } = await context.withApi(
      (api) => api.request<SampleSent>("POST", apiPath`/webhooks/${id}/test`, { body: { event } }),
      ownerOfWebhook(id),
    );
    return recordResult(
      body,
      () => ({ event: body.event, "event id": body.event_id, "delivery id": body.delivery_id }),
      `What becomes of it: esimctl webhooks deliveries --endpoint ${id}`,
    );
  },
});
