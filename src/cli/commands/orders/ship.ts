import { command } from "../../command.ts";
import { OPERATOR } from "../../context.ts";
import { argument, required, text } from "../../input.ts";
import { decided, REVIEWED_JSON } from "./review.ts";

export const ship = command({
  name: "ship",
  summary: "record that an order's physical SIMs went out",
  stand: "operator",
  effects: "Its shipping lines are fulfilled; the order too, with order.fulfilled, when nothing else is left.",
  json: REVIEWED_JSON,
  examples: ["orders ship ORD-20260301-7KQ2M --carrier AusPost --tracking AP123456789AU"],
  args: { id: argument("id", "the order's id or number") },
  options: {
    carrier: required(text("--carrier <name>", "who carries it")),
    tracking: required(text("--tracking <number>", "the tracking number")),
    trackingUrl: text("--tracking-url <url>", "where the partner can follow it"),
  },
  async run(context, { id, carrier, tracking, trackingUrl }) {
    const [{ shipOrder }, { findOrderId }] = await Promise.all([
      import("../../../core/orders/ship.ts"),
      import("../../../core/orders/order.ts"),
    ]);
    return context.withStore(async (opened) => {
      const orderId = await opened.store.read(findOrderId, id);
      const shipment = { id: orderId, carrier, tracking, trackingUrl: trackingUrl ?? null, actor: OPERATOR };
      return decided(opened, await opened.store.write(shipOrder, shipment));
    });
  },
});
