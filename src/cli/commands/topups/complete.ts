import { command } from "../../frame/command.ts";
import { TOPUP_JSON } from "../topup-record.ts";
import { decideHere, topupArgument } from "./view.ts";

export default command({
  target: "operator",
  effects: "The top-up is applied: its supplier's portal shows that it is on the eSIM. esim.topped_up is sent.",
  json: TOPUP_JSON,
  examples: ["topups complete 019c…"],
  args: { id: topupArgument },
  options: {},
  run: (context, { id }) => decideHere(context, id, { verb: "complete" }),
});
