import type { WebhookId } from "../../../core/kernel/brand.ts";
import { moreNote } from "../../client/pages.ts";
import { command } from "../../frame/command.ts";
import { pagesOf } from "../../frame/list-command.ts";
import { flag, integer, text } from "../../kernel/input.ts";
import { DELIVERY_JSON, deliveryColumns } from "./view.ts";

export default command({
  target: "operator",
  shows: "rows",
  effects: "Reads only.",
  json: `{data: [${DELIVERY_JSON}], count, next_cursor}`,
  examples: ["webhooks deliveries", "webhooks deliveries --endpoint 019c… --failed --all --json"],
  args: {},
  options: {
    endpoint: text("--endpoint <id>", "only this endpoint's"),
    failed: flag("--failed", "only those that did not arrive and are not tried any more: exhausted or held"),
    limit: integer("--limit <n>", "deliveries a page (default 20)", { min: 1, max: 1000 }),
    cursor: text("--cursor <cursor>", "where the next page starts"),
    all: flag("--all", "all pages"),
  },
  async run(context, { endpoint, failed, limit = 20, cursor, all }) {
    const { listDeliveries } = await import("../../../core/webhooks/deliveries.ts");
    return context.withStore(async ({ store }) => {
      // What was typed is looked up; anything that is no endpoint's id is not found.
      const filter = { endpointId: endpoint as WebhookId | undefined, failed };
      const page = async (count: number, after: string | undefined) => {
        const { data, next_cursor } = await store.read(listDeliveries, { ...filter, limit: count, cursor: after });
        return { data, next: next_cursor };
      };
      const span = all ? { size: 1000, after: cursor } : { most: limit, size: limit, after: cursor };
      const { pages, next } = pagesOf(page, span);
      const look = { columns: deliveryColumns, empty: "No deliveries.", note: () => moreNote(next()) };
      return context.print({ ...look, key: "data", pages, rest: (count) => ({ count, next_cursor: next() }) });
    });
  },
});
