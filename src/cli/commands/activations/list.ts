import { activationStatuses } from "../../../core/store/schema/values.ts";
import type { Activation } from "../../client/answers.ts";
import { apiPath } from "../../client/api.ts";
import { listOptions, listPages, pageResult } from "../../client/pages.ts";
import { command } from "../../frame/command.ts";
import { choice, text } from "../../kernel/input.ts";
import { ACTIVATION_JSON, activationColumns } from "./view.ts";

export default command({
  target: "partner",
  effects: "Reads only.",
  json: `the API's body: {data: [${ACTIVATION_JSON}], count, pagination}`,
  examples: ["activations list --partner acme", "activations list --partner acme --status pending --all --json"],
  args: {},
  options: {
    ...listOptions,
    iccid: text("--iccid <iccid>", "only this SIM"),
    status: choice("--status <status>", activationStatuses, "only this status"),
  },
  async run(context, { limit, cursor, all, iccid, status }) {
    const query = { limit, cursor, iccid, status };
    const { data, pagination } = await context.withApi((api) =>
      listPages<Activation>(api, apiPath`/activations`, query, all),
    );
    const body = { data, count: data.length, pagination };
    return pageResult(body, { rows: data, columns: activationColumns, empty: "No activations." });
  },
});
