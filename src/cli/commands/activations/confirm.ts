import { command } from "../../frame/command.ts";
import { required, text } from "../../kernel/input.ts";
import { MOVED_JSON, moveHere, workArgument } from "./by-hand.ts";
import { queuedRequest } from "./choices.ts";

export default command({
  target: "operator",
  picks: queuedRequest,
  effects: "The request is confirmed, and the partner is notified (activation.confirmed).",
  json: MOVED_JSON,
  examples: ["activations confirm 019c… --number CN-20417"],
  args: { id: workArgument },
  options: { number: required(text("--number <number>", "the carrier's confirmation number")) },
  run: (context, { id, number }) => moveHere(context, { id, move: { verb: "confirm", number } }),
});
