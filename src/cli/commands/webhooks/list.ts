import { counted } from "../../../core/kernel/counted.ts";
import { environments } from "../../../core/kernel/environment.ts";
import { webhookStatuses } from "../../../core/store/schema/values.ts";
import type { WebhookDetail } from "../../client/answers.ts";
import { type Api, apiPath } from "../../client/api.ts";
import { dataListing, listOptions } from "../../client/pages.ts";
import { command } from "../../frame/command.ts";
import { choice } from "../../kernel/input.ts";
import { capital } from "../../output/words.ts";
import { DETAIL_JSON, webhookColumns } from "./view.ts";

/** Endpoints of the other environment that are counted. */
const MOST = 100;

export default command({
  target: "partner",
  shows: "rows",
  effects: "Reads only.",
  json: `the API's body: {data: [${DETAIL_JSON}], pagination}`,
  examples: ["webhooks list --partner acme", "webhooks list --partner acme --status failed --json"],
  args: {},
  options: {
    ...listOptions,
    status: choice("--status <status>", webhookStatuses, "only this status"),
    environment: choice("--environment <environment>", environments, "only this environment"),
  },
  async run(context, { limit, cursor, all, status, environment }) {
    const query = { limit, cursor, status, environment };
    const asked = { path: apiPath`/webhooks`, query, all };
    const look = { columns: webhookColumns, empty: "No endpoints." };
    return context.withApi(async (api) => {
      const listing = dataListing<WebhookDetail>(api, asked, look);
      const elsewhere = await elsewhereNote(api);
      const note = (count: number) =>
        [listing.note?.(count), elsewhere].filter((line) => line !== undefined).join("\n");
      return context.print({ ...listing, note: (count) => note(count) || undefined });
    });
  },
});

/** What the other environment has, which no page of this one shows; a server shows a credential its own alone. */
async function elsewhereNote({ local, environment }: Api): Promise<string | undefined> {
  const other = environment === "sandbox" ? "production" : "sandbox";
  if (local === undefined) return `Endpoints in ${other} are listed with a credential of ${other}.`;
  const { listWebhooks } = await import("../../../core/webhooks/list.ts");
  const owner = { partnerId: local.partnerId, environment: other } as const;
  const { data, pagination } = await local.store.read(listWebhooks, { owner, limit: MOST });
  if (data.length === 0) return undefined;
  const count = `${pagination.has_more ? "more than " : ""}${counted(data.length, "endpoint")}`;
  const way = other === "sandbox" ? "--sandbox lists them" : "leave --sandbox out to list them";
  return `${capital(other)} has ${count} too: ${way}.`;
}
