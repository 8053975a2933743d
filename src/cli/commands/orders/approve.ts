import { command } from "../../command.ts";
import { OPERATOR } from "../../context.ts";
import { argument } from "../../input.ts";
import { decideReview, REVIEWED_JSON } from "./review.ts";

export const approve = command({
  name: "approve",
  summary: "pass an order that waits for review",
  stand: "operator",
  effects: "Reserves its stock; the daemon then delivers it. Stock still short: nothing changes. Asks first.",
  json: REVIEWED_JSON,
  examples: ["orders approve ORD-20260301-7KQ2M", "orders approve ORD-20260301-7KQ2M --yes"],
  args: { id: argument("id", "the order's id or number") },
  options: {},
  async run(context, { id }) {
    const { approveOrder } = await import("../../../core/orders/review.ts");
    const approved = await decideReview(context, {
      id,
      consequence: ({ order_number, esims_to_deliver, short }) =>
        short.length > 0 ? null : `Approve ${order_number}? ${esims_to_deliver} eSIMs leave the stock for it.`,
      decide: ({ store }, orderId) => store.write(approveOrder, { id: orderId, actor: OPERATOR }),
    });
    return { ...approved, note: "Approved: its stock is reserved, and the daemon delivers it now." };
  },
});
