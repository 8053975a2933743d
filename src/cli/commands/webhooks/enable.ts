import { ABOUT_ENABLING } from "../../../core/webhooks/words.ts";
import { command } from "../../frame/command.ts";
import { argument } from "../../kernel/input.ts";
import { changeWebhook } from "./change.ts";
import { DETAIL_JSON, detailResult } from "./view.ts";

export default command({
  target: "partner",
  effects: ABOUT_ENABLING,
  json: `the API's body: ${DETAIL_JSON}`,
  examples: ["webhooks enable 019c…", "webhooks enable 019c… --partner acme --json"],
  args: { id: argument("id", "the endpoint") },
  options: {},
  async run(context, { id }) {
    const enabled = await changeWebhook(context, id, { status: "active" });
    return detailResult(enabled, `What was held: esimctl webhooks redeliver --endpoint ${enabled.id} --since TIME`);
  },
});
