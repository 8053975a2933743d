import { environments } from "../../../core/kernel/environment.ts";
import { webhookStatuses } from "../../../core/store/schema/values.ts";
import type { Webhook } from "../../client/answers.ts";
import { apiPath } from "../../client/api.ts";
import { listOptions, listPages, pageResult } from "../../client/pages.ts";
import { command } from "../../frame/command.ts";
import { choice } from "../../kernel/input.ts";
import { WEBHOOK_JSON, webhookColumns } from "./view.ts";

export default command({
  target: "partner",
  effects: "Reads only.",
  json: `the API's body: {data: [${WEBHOOK_JSON}], pagination}`,
  examples: ["webhooks list --partner acme", "webhooks list --partner acme --status failed --json"],
  args: {},
  options: {
    ...listOptions,
    status: choice("--status <status>", webhookStatuses, "only this status"),
    environment: choice("--environment <environment>", environments, "only this environment"),
  },
  async run(context, { limit, cursor, all, status, environment }) {
    const query = { limit, cursor, status, environment };
    const body = await context.withApi((api) => listPages<Webhook>(api, apiPath`/webhooks`, query, all));
    return pageResult(body, { rows: body.data, columns: webhookColumns, empty: "No endpoints." });
  },
});
