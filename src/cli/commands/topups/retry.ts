import { command } from "../../frame/command.ts";
import { TOPUP_JSON } from "../topup-record.ts";
import { decideHere, topupArgument } from "./view.ts";

export default command({
  target: "operator",
  effects: "The daemon goes on where it stopped: what may have been bought is looked up before anything is bought.",
  json: TOPUP_JSON,
  examples: ["topups retry 019c…"],
  args: { id: topupArgument },
  options: {},
  run: (context, { id }) => decideHere(context, id, { verb: "retry" }),
});
