import type { HandWork } from "../../../core/find/named-activations.ts";
import { type Context, command } from "../../frame/command.ts";
import { text } from "../../kernel/input.ts";
import { text as ask } from "../../output/prompts.ts";
import { MOVED_JSON, moveHere, workArgument, workWords } from "./by-hand.ts";
import { queuedRequest } from "./choices.ts";

export default command({
  target: "operator",
  picks: queuedRequest,
  effects:
    "The request is completed, which is final, and the partner is sent its number (activation.activated). Shows " +
    "first what will be final, and asks at a terminal. A wrong number or eSIM is corrected with activations " +
    "correct.",
  json: MOVED_JSON,
  examples: [
    "activations complete 8961032200826199583 --mobile 0491570156",
    "activations complete 019c… --mobile +61491570156",
    "activations complete 019d… --iccid 8944… --activation-code 'LPA:1$smdp.example.net$K2-7YTQ1-AB'",
  ],
  args: { id: workArgument },
  options: {
    mobile: text(
      "--mobile <number>",
      "the mobile number, as +61… or as its country writes it; needed for a physical SIM",
    ),
    iccid: text("--iccid <iccid>", "of an order item: the eSIM that was delivered"),
    code: text("--activation-code <lpa>", "of an order item: its LPA:1$… code"),
  },
  run: (context, { id, mobile, iccid = null, code = null }) =>
    moveHere(context, {
      id,
      move: async (work) => {
        const mobileNumber = await mobileOf(context, work, mobile);
        return { verb: "complete", mobileNumber, iccid, activationCode: code };
      },
      foresee(work, moved) {
        const number = moved.kind === "activation" ? ` with the number ${moved.activation.mobile_number}` : "";
        const delivered =
          moved.kind === "activation" ? "" : iccid === null ? " without an eSIM" : ` with eSIM ${iccid}`;
        return `${workWords(work)} is completed for good${number}${delivered}, and its partner is notified.`;
      },
    }),
});

/** The mobile number of a physical SIM, which a person at a terminal is asked for. Throws a usage error elsewhere. */
export async function mobileOf(context: Context, work: HandWork, given: string | undefined): Promise<string | null> {
  if (given !== undefined || work.kind === "order_item") return given ?? null;
  return ask(`Mobile number of ${workWords(work)}:`, "--mobile", context.globals);
}
