import { verdictWords } from "../../../core/topups/verdict-words.ts";
import { command } from "../../frame/command.ts";
import { required, text } from "../../kernel/input.ts";
import { TOPUP_JSON } from "../topup-record.ts";
import { decideHere, topupArgument } from "./view.ts";

export default command({
  target: "operator",
  effects: verdictWords.fail,
  json: TOPUP_JSON,
  examples: ['topups fail 019c… --reason "the supplier has no such order"'],
  args: { id: topupArgument },
  options: { reason: required(text("--reason <text>", "why, for the partner and the audit trail")) },
  run: (context, { id, reason }) => decideHere(context, id, { verb: "fail", reason }),
});
