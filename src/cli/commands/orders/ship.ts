import { command } from "../../frame/command.ts";
import { flag, required, text } from "../../kernel/input.ts";
import { ACTED_JSON, actHere } from "./act.ts";
import { orderToShip } from "./choices.ts";
import { orderArgument } from "./order.ts";

export default command({
  target: "operator",
  picks: orderToShip,
  effects:
    "Its shipping lines are fulfilled; the order too, with order.fulfilled, when nothing else is left. Says so " +
    "first. With --correct it replaces carrier, number and address of what was shipped; a fulfilled order sends " +
    "order.fulfilled again, with corrected_at.",
  json: ACTED_JSON,
  examples: [
    "orders ship ORD-20260301-7KQ2M --carrier AusPost --tracking AP123456789AU",
    "orders ship ORD-20260301-7KQ2M --correct --carrier AusPost --tracking AP123456798AU",
  ],
  args: { id: orderArgument },
  options: {
    carrier: required(text("--carrier <name>", "the carrier")),
    tracking: required(text("--tracking <number>", "the tracking number")),
    trackingUrl: text("--tracking-url <url>", "where the partner can follow it"),
    correct: flag("--correct", "replace what was recorded when it was shipped"),
  },
  run(context, { id, carrier, tracking, trackingUrl = null, correct }) {
    const verb = correct ? "correct" : "ship";
    return actHere(context, { id, act: { verb, carrier, tracking, trackingUrl }, asks: false });
  },
});
