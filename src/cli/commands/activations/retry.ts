import { command } from "../../frame/command.ts";

import { MOVED_JSON, moveHere, workArgument } from "./by-hand.ts";
import { queuedRequest } from "./choices.ts";

export default command({
  target: "operator",
  picks: queuedRequest,
  effects:
    "The daemon asks again at once, under the same reference, so that nothing is activated twice. Also sends " +
    "what waits for staff since its carrier was worked by hand.",
  json: MOVED_JSON,
  examples: ["activations retry 019c…"],
  args: { id: workArgument },
  options: {},
  run: (context, { id }) => moveHere(context, { id, move: { verb: "retry" } }),
});
