import type { WebhookId } from "../../../core/kernel/brand.ts";
import { command } from "../../frame/command.ts";
import { argument } from "../../kernel/input.ts";
import { OPERATOR } from "../../place/operator.ts";
import { DETAIL_JSON, detailResult } from "./view.ts";

export default command({
  target: "operator",
  effects: "New events are sent again and the count of failures starts again. What was held stays held: redeliver it.",
  json: DETAIL_JSON,
  examples: ["webhooks enable 019c…"],
  args: { id: argument("id", "the endpoint") },
  options: {},
  async run(context, { id }) {
    const { enableWebhook } = await import("../../../core/webhooks/enable.ts");
    // What was typed is looked up; anything that is no endpoint's id is not found.
    const input = { id: id as WebhookId, actor: OPERATOR };
    const enabled = await context.withStore(({ store }) => store.write(enableWebhook, input));
    return detailResult(enabled, `What was held: esimctl webhooks redeliver --endpoint ${enabled.id} --since TIME`);
  },
});
