import type { ActedOn } from "../../../core/orders/act.ts";
import { command } from "../../frame/command.ts";
import { shown } from "../../output/words.ts";
import { ACTED_JSON, actHere } from "./act.ts";
import { heldOrder } from "./choices.ts";
import { orderArgument } from "./order.ts";

export default command({
  target: "operator",
  picks: heldOrder,
  effects:
    "The daemon sends what suppliers did not accept again, under the same reference, and delivers stock that was " +
    "short and is refilled. Shows which first. Still short and nothing to send: nothing changes, exit 1.",
  json: ACTED_JSON,
  examples: ["orders retry ORD-20260301-7KQ2M"],
  args: { id: orderArgument },
  options: {},
  run: (context, { id }) => actHere(context, { id, act: { verb: "retry" }, asks: false, note: whatItNeeds }),
});

/** Where nothing is stuck with a supplier or short in stock, a retry changes nothing; undefined: it did something. */
function whatItNeeds({ order, done }: ActedOn): string | undefined {
  if (order.status !== "waiting_review" || order.reason === null) return undefined;
  if (done.sent_again.length + done.from_stock.length > 0) return undefined;
  const what = `Nothing of ${order.order_number} could be retried: ${shown(order.reason)}.`;
  return `${what}\nEnd it with: esimctl orders cancel ${order.order_number} --reason "..."`;
}
