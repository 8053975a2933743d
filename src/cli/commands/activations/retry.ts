import { command } from "../../frame/command.ts";
import { argument } from "../../kernel/input.ts";
import { MOVED_JSON, moveHere } from "./by-hand.ts";
import { queuedRequest } from "./choices.ts";

export default command({
  target: "operator",
  picks: queuedRequest,
  effects:
    "The daemon asks again at once, under the same reference, so that nothing is activated twice. Also sends " +
    "what waits for staff since its carrier was worked by hand.",
  json: MOVED_JSON,
  examples: ["activations retry 019c…"],
  args: { id: argument("id", "the request's id, or an order item's") },
  options: {},
  run: (context, { id }) => moveHere(context, id, { verb: "retry" }),
});
