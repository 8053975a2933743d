import { command } from "../../frame/command.ts";
import { MOVED_JSON, recordedOptions, recordHere, workArgument, workWords } from "./by-hand.ts";
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
  options: recordedOptions({
    mobile: "the mobile number, as +61… or as its country writes it; needed for a physical SIM",
    iccid: "the eSIM that was delivered",
  }),
  run: (context, input) =>
    recordHere(context, "complete", input, (work, moved) => {
      const number = moved.kind === "activation" ? ` with the number ${moved.activation.mobile_number}` : "";
      const esim = input.iccid === undefined ? " without an eSIM" : ` with eSIM ${input.iccid}`;
      const delivered = moved.kind === "activation" ? "" : esim;
      return `${workWords(work)} is completed for good${number}${delivered}, and its partner is notified.`;
    }),
});
