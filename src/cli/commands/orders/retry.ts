import { command } from "../../command.ts";
import { argument } from "../../input.ts";
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
  run: (context, { id }) => actHere(context, { id, act: { verb: "retry" }, asks: false }),
});
