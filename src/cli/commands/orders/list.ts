import { isoTime } from "../../../core/kernel/clock.ts";
import { orderStatuses } from "../../../core/store/schema/values.ts";
import type { Order } from "../../client/answers.ts";
import { apiPath } from "../../client/api.ts";
import { dataListing, listOptions } from "../../client/pages.ts";
import { productId } from "../../client/product-id.ts";
import { command } from "../../frame/command.ts";
import { choice, text } from "../../kernel/input.ts";
import { dated } from "../../kernel/input-time.ts";
import { orderColumns } from "./order.ts";

export default command({
  target: "partner",
  shows: "rows",
  effects: "Reads only.",
  json: "the API's body: {data: [{id, order_number, status, total_price_cents, currency, …}], pagination}",
  examples: [
    "orders list --partner acme",
    "orders list --partner acme --status waiting_review --all --json",
    "orders list --partner acme --product-id ES-GLB-1GB-7D --created-after 2026-03-01",
  ],
  args: {},
  options: {
    ...listOptions,
    status: choice("--status <status>", orderStatuses, "only this status"),
    createdAfter: dated(
      "--created-after <time>",
      "only created at this time or later: 2026-03-01 (UTC), or with a zone",
    ),
    createdBefore: dated("--created-before <time>", "only created before this time"),
    externalOrderId: text("--external-order-id <id>", "only the bulk order with this id"),
    product: text("--product-id <id-or-sku>", "only with a line of this product"),
  },
  async run(context, { limit, cursor, all, status, createdAfter, createdBefore, externalOrderId, product }) {
    const times = { created_after: iso(createdAfter), created_before: iso(createdBefore) };
    const query = { limit, cursor, status, ...times, external_order_id: externalOrderId };
    return context.withApi(async (api) => {
      const product_id = product === undefined ? undefined : await productId(api, product);
      const asked = { path: apiPath`/orders`, query: { ...query, product_id }, all };
      return context.print(dataListing<Order>(api, asked, { columns: orderColumns, empty: "No orders." }));
    });
  },
});

function iso(at: number | undefined): string | undefined {
  return at === undefined ? undefined : isoTime(at);
}
