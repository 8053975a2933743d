import { verdictWords } from "../../../core/topups/verdict-words.ts";
import { command } from "../../frame/command.ts";
import { TOPUP_JSON } from "../topup-record.ts";
import { decideHere, topupArgument } from "./view.ts";

export default command({
  target: "operator",
  effects: verdictWords.retry,
  json: TOPUP_JSON,
  examples: ["topups retry 019c…"],
  args: { id: topupArgument },
  options: {},
  run: (context, { id }) => decideHere(context, id, { verb: "retry" }),
});
