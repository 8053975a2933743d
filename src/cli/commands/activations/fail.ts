import { command } from "../../frame/command.ts";
import { required, text } from "../../kernel/input.ts";
import { MOVED_JSON, moveHere, workArgument, workWords } from "./by-hand.ts";
import { queuedRequest } from "./choices.ts";

export default command({
  target: "operator",
  picks: queuedRequest,
  effects:
    "The request fails, its draw goes back to the pool, and the partner is notified (activation.failed). Shows " +
    "first what will be final, and asks at a terminal.",
  json: MOVED_JSON,
  examples: ['activations fail 019c… --error sim_blocked --message "The carrier says this SIM is blocked."'],
  args: { id: workArgument },
  options: {
    error: required(text("--error <type>", "a short name that programs read, e.g. sim_blocked")),
    message: required(text("--message <text>", "why, in words for the partner; no identity data")),
  },
  run: (context, { id, error, message }) =>
    moveHere(context, {
      id,
      move: { verb: "fail", errorType: error, errorMessage: message },
      foresee: (work) => `${workWords(work)} fails for good (${error}), and its partner is notified.`,
    }),
});
