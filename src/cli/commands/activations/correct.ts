import { command } from "../../frame/command.ts";
import { MOVED_JSON, recordedOptions, recordHere, workArgument, workWords } from "./by-hand.ts";

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
  options: recordedOptions({
    mobile: "of a physical SIM: the right number, as +61… or as its country writes it",
    iccid: "the right eSIM",
  }),
  run: (context, input) =>
    recordHere(context, "correct", input, (work, moved) => {
      const what =
        work.kind === "activation" && moved.kind === "activation"
          ? `its number changes from ${work.customer.mobile_number} to ${moved.activation.mobile_number}`
          : `its eSIM becomes ${input.iccid ?? null}`;
      return `${workWords(work)}: ${what}; its partner is sent activation.activated again.`;
    }),
});
