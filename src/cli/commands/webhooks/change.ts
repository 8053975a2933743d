import type { WebhookChange, WebhookDetail } from "../../client/answers.ts";
import { apiPath } from "../../client/api.ts";
import type { Context } from "../../frame/command.ts";
import { ownerOfWebhook } from "./view.ts";

/** What is to change; unknown kinds of events are left to the API to refuse. */
type Change = Omit<WebhookChange, "events"> & { events?: string[] };

/** Changes an endpoint by the API (PATCH /webhooks/{id}); what is left out stays. Throws CliError. */
export async function changeWebhook(context: Context, id: string, body: Change): Promise<WebhookDetail> {
  const path = apiPath`/webhooks/${id}`;
  const answer = await context.withApi(
    (api) => api.request<WebhookDetail>("PATCH", path, { body }),
    ownerOfWebhook(id),
  );
  return answer.body;
}
