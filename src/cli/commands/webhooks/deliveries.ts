import type { WebhookId } from "../../../core/kernel/brand.ts";
import type { Delivery } from "../../../core/webhooks/deliveries.ts";
import { command } from "../../frame/command.ts";
import { flag, integer, text } from "../../kernel/input.ts";
import { DELIVERY_JSON, deliveryColumns } from "./view.ts";

export default command({
  target: "operator",
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
      const data: Delivery[] = [];
      let next = cursor;
      do {
        // What was typed is looked up; anything that is no endpoint's id is not found.
        const filter = { endpointId: endpoint as WebhookId | undefined, failed, limit: all ? 1000 : limit };
        const page = await store.read(listDeliveries, { ...filter, cursor: next });
        data.push(...page.data);
        next = page.next_cursor ?? undefined;
      } while (all && next !== undefined);
      if (next !== undefined) context.note(`There is more: --all, or --cursor ${next}`);
      return {
        json: { data, count: data.length, next_cursor: next ?? null },
        text: (sheet) => sheet.table(deliveryColumns, data, "No deliveries."),
      };
    });
  },
});
