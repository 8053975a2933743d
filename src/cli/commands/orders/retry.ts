import { command } from "../../command.ts";
import { OPERATOR } from "../../context.ts";
import { argument } from "../../input.ts";
import { decided, REVIEWED_JSON } from "./review.ts";

export const retry = command({
  name: "retry",
  summary: "try the stuck parts of an order again",
  stand: "operator",
  effects: "Requests that suppliers did not take are sent again, under the same reference, by the daemon.",
  json: REVIEWED_JSON,
  examples: ["orders retry ORD-20260301-7KQ2M"],
  args: { id: argument("id", "the order's id or number") },
  options: {},
  async run(context, { id }) {
    const [{ retryOrder }, { findOrderId }] = await Promise.all([
      import("../../../core/orders/item-operator.ts"),
      import("../../../core/orders/order.ts"),
    ]);
    return context.withStore(async (opened) => {
      const orderId = await opened.store.read(findOrderId, id);
      return decided(opened, await opened.store.write(retryOrder, { id: orderId, actor: OPERATOR }));
    });
  },
});
