import type { WebhookDetail } from "../../client/answers.ts";
import { apiPath } from "../../client/api.ts";
import { command } from "../../frame/command.ts";
import { argument } from "../../kernel/input.ts";
import { ownerOfWebhook } from "./view.ts";

export default command({
  target: "partner",
  effects: "The endpoint is gone; deliveries that wait or are held are dropped. Asks first.",
  json: "{id, deleted}",
  examples: ["webhooks delete 019c…", "webhooks delete 019c… --partner acme --yes"],
  args: { id: argument("id", "the endpoint") },
  options: {},
  async run(context, { id }) {
    return context.withApi(async (api) => {
      const path = apiPath`/webhooks/${id}`;
      const { url } = (await api.request<WebhookDetail>("GET", path)).body;
      await context.confirm(`Delete the endpoint ${url}? What waits for it is dropped.`, { whose: api.actsAs });
      await api.request("DELETE", path);
      return { json: { id, deleted: true }, text: () => `Deleted ${url}.` };
    }, ownerOfWebhook(id));
  },
});
