import type { WebhookDetail } from "../../client/answers.ts";
import { apiPath } from "../../client/api.ts";
import { command } from "../../frame/command.ts";
import { argument } from "../../kernel/input.ts";
import { DETAIL_JSON, detailResult, ownerOfWebhook } from "./view.ts";

export default command({
  target: "partner",
  shows: "record",
  effects: "Reads only.",
  json: `the API's body: ${DETAIL_JSON}`,
  examples: ["webhooks show 019c…", "webhooks show 019c… --partner acme --json"],
  args: { id: argument("id", "the endpoint") },
  options: {},
  async run(context, { id }) {
    const { body } = await context.withApi(
      (api) => api.request<WebhookDetail>("GET", apiPath`/webhooks/${id}`),
      ownerOfWebhook(id),
    );
    return detailResult(body);
  },
});
