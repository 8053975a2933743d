import type { WebhookId } from "../../../core/kernel/brand.ts";
import { command } from "../../frame/command.ts";
import { argument } from "../../kernel/input.ts";
import { OPERATOR } from "../../place/operator.ts";
import { DETAIL_JSON, detailResult } from "./view.ts";

export default command({
  target: "operator",
  effects: "Nothing is sent to it any more; its events are kept as held for 90 days.",
  json: DETAIL_JSON,
  examples: ["webhooks disable 019c…"],
  args: { id: argument("id", "the endpoint") },
  options: {},
  async run(context, { id }) {
    const { disableWebhook } = await import("../../../core/webhooks/disable.ts");
    // What was typed is looked up; anything that is no endpoint's id is not found.
    const input = { id: id as WebhookId, actor: OPERATOR };
    return detailResult(await context.withStore(({ store }) => store.write(disableWebhook, input)));
  },
});
