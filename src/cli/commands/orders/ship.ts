import { command } from "../../frame/command.ts";
import { required, text } from "../../kernel/input.ts";
import { ACTED_JSON, actHere } from "./act.ts";
import { orderToShip } from "./choices.ts";
import { orderArgument } from "./order.ts";

export default command({
  target: "operator",
  picks: orderToShip,
  effects:
    "Its shipping lines are fulfilled; the order too, with order.fulfilled, when nothing else is left. Says so first.",
  json: ACTED_JSON,
  examples: ["orders ship ORD-20260301-7KQ2M --carrier AusPost --tracking AP123456789AU"],
  args: { id: orderArgument },
  options: {
    carrier: required(text("--carrier <name>", "the carrier")),
    tracking: required(text("--tracking <number>", "the tracking number")),
    trackingUrl: text("--tracking-url <url>", "where the partner can follow it"),
  },
  run(context, { id, carrier, tracking, trackingUrl = null }) {
    return actHere(context, { id, act: { verb: "ship", carrier, tracking, trackingUrl }, asks: false });
  },
});
