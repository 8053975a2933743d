import { ABOUT_DISABLING } from "../../../core/webhooks/words.ts";
import { command } from "../../frame/command.ts";
import { argument } from "../../kernel/input.ts";
import { changeWebhook } from "./change.ts";
import { DETAIL_JSON, detailResult } from "./view.ts";

export default command({
  target: "partner",
  effects: ABOUT_DISABLING,
  json: `the API's body: ${DETAIL_JSON}`,
  examples: ["webhooks disable 019c…", "webhooks disable 019c… --partner acme --json"],
  args: { id: argument("id", "the endpoint") },
  options: {},
  async run(context, { id }) {
    return detailResult(await changeWebhook(context, id, { status: "disabled" }));
  },
});
