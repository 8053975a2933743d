import { command } from "../../command.ts";
import { OPERATOR } from "../../context.ts";
import { argument, required, text } from "../../input.ts";
import { decideReview, REVIEWED_JSON } from "./review.ts";

export const reject = command({
  name: "reject",
  summary: "refuse an order that waits for review, with a full refund",
  stand: "operator",
  effects: "The order fails for good and the wallet gets all its money back, in one step. Asks first.",
  json: REVIEWED_JSON,
  examples: ['orders reject ORD-20260301-7KQ2M --reason "out of stock for weeks"'],
  args: { id: argument("id", "the order's id or number") },
  options: { reason: required(text("--reason <text>", "why, for the partner and the audit trail")) },
  async run(context, { id, reason }) {
    const [{ rejectOrder }, { formatMoney }] = await Promise.all([
      import("../../../core/orders/review.ts"),
      import("../../../core/kernel/money.ts"),
    ]);
    return decideReview(context, {
      id,
      consequence: ({ order_number, refund_cents, currency }) =>
        `Reject ${order_number}? It fails for good and ${formatMoney(refund_cents, currency)} ${currency} go back.`,
      decide: ({ store }, orderId) => store.write(rejectOrder, { id: orderId, reason, actor: OPERATOR }),
    });
  },
});
