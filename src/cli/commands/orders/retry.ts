import type { ActedOn } from "../../../core/orders/act.ts";
import { command } from "../../command.ts";
import { argument } from "../../input.ts";
import { shown } from "../../output/words.ts";
import { ACTED_JSON, actHere } from "./act.ts";

export const retry = command({
  name: "retry",
  summary: "try the stuck parts of an order again",
  stand: "operator",
  effects:
    "Requests that suppliers did not take are sent again, under the same reference, by the daemon. Says which first.",
  json: ACTED_JSON,
  examples: ["orders retry ORD-20260301-7KQ2M"],
  args: { id: argument("id", "the order's id or number") },
  options: {},
  run: (context, { id }) => actHere(context, { id, act: { verb: "retry" }, asks: false, note: whatItNeeds }),
});

/** Where nothing is with a supplier, sending again is no help; undefined: something is sent. */
function whatItNeeds({ order, done }: ActedOn): string | undefined {
  if (order.status !== "waiting_review" || order.reason === null || done.sent_again.length > 0) return undefined;
  const what = `Nothing of ${order.order_number} could be sent again: ${shown(order.reason)}.`;
  return `${what}\nOnce that is mended: esimctl orders approve ${order.order_number}`;
}
