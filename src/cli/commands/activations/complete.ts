import { command } from "../../frame/command.ts";
import { argument, text } from "../../kernel/input.ts";
import { MOVED_JSON, moveHere } from "./by-hand.ts";

export default command({
  target: "operator",
  effects: "The request is completed, which is final, and the partner is sent its number (activation.activated).",
  json: MOVED_JSON,
  examples: [
    "activations complete 019c… --mobile +61491570156",
    "activations complete 019d… --iccid 8944… --activation-code 'LPA:1$smdp.example.net$K2-7YTQ1-AB'",
  ],
  args: { id: argument("id", "the request's id, or an order item's") },
  options: {
    mobile: text("--mobile <number>", "the mobile number; needed for a physical SIM"),
    iccid: text("--iccid <iccid>", "of an order item: the eSIM that was delivered"),
    code: text("--activation-code <lpa>", "of an order item: its LPA:1$… code"),
  },
  run: (context, { id, mobile = null, iccid = null, code = null }) =>
    moveHere(context, id, { verb: "complete", mobileNumber: mobile, iccid, activationCode: code }),
});
