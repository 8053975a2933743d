import { Problem } from "../../../core/kernel/problem.ts";
import { command } from "../../frame/command.ts";
import { text } from "../../kernel/input.ts";
import { text as ask } from "../../output/prompts.ts";
import { MOVED_JSON, moveHere, workArgument } from "./by-hand.ts";
import { queuedRequest } from "./choices.ts";

export default command({
  target: "operator",
  picks: queuedRequest,
  effects: "The request is completed, which is final, and the partner is sent its number (activation.activated).",
  json: MOVED_JSON,
  examples: [
    "activations complete 019c… --mobile +61491570156",
    "activations complete 019d… --iccid 8944… --activation-code 'LPA:1$smdp.example.net$K2-7YTQ1-AB'",
  ],
  args: { id: workArgument },
  options: {
    mobile: text("--mobile <number>", "the mobile number; needed for a physical SIM"),
    iccid: text("--iccid <iccid>", "of an order item: the eSIM that was delivered"),
    code: text("--activation-code <lpa>", "of an order item: its LPA:1$… code"),
  },
  async run(context, { id, mobile = null, iccid = null, code = null }) {
    const move = { verb: "complete", mobileNumber: mobile, iccid, activationCode: code } as const;
    try {
      return await moveHere(context, id, move);
    } catch (error) {
      // Only the record says whether it is a physical SIM's.
      if (mobile !== null || !lacksMobile(error)) throw error;
      const mobileNumber = await ask("Mobile number:", "--mobile <number>", context.globals);
      return moveHere(context, id, { ...move, mobileNumber });
    }
  },
});

function lacksMobile(error: unknown): boolean {
  return error instanceof Problem && error.slug === "validation" && error.errors?.mobile !== undefined;
}
