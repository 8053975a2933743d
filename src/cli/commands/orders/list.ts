import type { Order } from "../../client/answers.ts";
import { apiPath } from "../../client/api.ts";
import { listOptions, listPages, moreNote } from "../../client/pages.ts";
import { command } from "../../command.ts";
import { choice } from "../../input.ts";
import { orderColumns } from "./view.ts";

const statuses = ["pending_payment", "paid", "waiting_review", "fulfilled", "failed", "cancelled"] as const;

export const list = command({
  name: "list",
  summary: "a partner's orders, newest first",
  stand: "partner",
  effects: "Reads only.",
  json: "the API's body: {data: [{id, order_number, status, total_price_cents, currency, …}], pagination}",
  examples: ["orders list --partner acme", "orders list --partner acme --status waiting_review --all --json"],
  args: {},
  options: { ...listOptions, status: choice("--status <status>", statuses, "only this status") },
  async run(context, { limit, cursor, all, status }) {
    const query = { limit, cursor, status };
    const body = await context.withApi((api) => listPages<Order>(api, apiPath`/orders`, query, all));
    const note = moreNote(body.pagination.next_cursor);
    return { json: body, note, text: (sheet) => sheet.table(orderColumns, body.data, "No orders.") };
  },
});
