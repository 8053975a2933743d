import { command } from "../../frame/command.ts";
import { text } from "../../kernel/input.ts";
import { MOVED_JSON, moveHere, workArgument, workWords } from "./by-hand.ts";
import { mobileOf } from "./complete.ts";

export default command({
  target: "operator",
  effects:
    "Replaces what was recorded at completion: the mobile number, or the eSIM of an order item while it is not in " +
    "use. The partner is sent activation.activated again, with corrected_at; links to the eSIM show the new code. " +
    "Shows first what changes, and asks at a terminal.",
  json: MOVED_JSON,
  examples: [
    "activations correct 8961032200826199583 --mobile +61491570157",
    "activations correct 019d… --iccid 8944… --activation-code 'LPA:1$smdp.example.net$K2-7YTQ1-AB'",
  ],
  args: { id: workArgument },
  options: {
    mobile: text("--mobile <number>", "of a physical SIM: the right number, as +61… or as its country writes it"),
    iccid: text("--iccid <iccid>", "of an order item: the right eSIM"),
    code: text("--activation-code <lpa>", "of an order item: its LPA:1$… code"),
  },
  run: (context, { id, mobile, iccid = null, code = null }) =>
    moveHere(context, {
      id,
      move: async (work) => {
        const mobileNumber = await mobileOf(context, work, mobile);
        return { verb: "correct", mobileNumber, iccid, activationCode: code };
      },
      foresee(work, moved) {
        const what =
          work.kind === "activation" && moved.kind === "activation"
            ? `its number changes from ${work.row.mobile_number} to ${moved.activation.mobile_number}`
            : `its eSIM becomes ${iccid}`;
        return `${workWords(work)}: ${what}; its partner is sent activation.activated again.`;
      },
    }),
});
