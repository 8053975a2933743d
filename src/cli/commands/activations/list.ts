import { activationStatuses } from "../../../core/store/schema/values.ts";
import type { Activation } from "../../client/answers.ts";
import { apiPath } from "../../client/api.ts";
import { dataListing, listOptions } from "../../client/pages.ts";
import { command } from "../../frame/command.ts";
import { choice, text } from "../../kernel/input.ts";
import { ACTIVATION_JSON, activationColumns } from "./view.ts";

export default command({
  target: "partner",
  shows: "rows",
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
    const asked = { path: apiPath`/activations`, query, all };
    const look = { columns: activationColumns, empty: "No activations.", counts: true };
    return context.withApi((api) => context.print(dataListing<Activation>(api, asked, look)));
  },
});
