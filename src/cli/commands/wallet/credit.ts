import { type Context, command } from "../../frame/command.ts";
import { flag } from "../../kernel/input.ts";
import { isInteractive, text } from "../../output/prompts.ts";
import { FUNDED_JSON, fundingOptions, moveMoney } from "./funding.ts";

export default command({
  target: "operator",
  effects:
    "Writes one ledger transaction and raises the balance. A reference that was credited to this partner in this " +
    "currency before is refused (exit code 1) without --again.",
  json: FUNDED_JSON,
  examples: ["wallet credit --partner acme --amount 1000.00 --currency AUD --reference INV-2041"],
  args: {},
  options: { ...fundingOptions, again: flag("--again", "a second payment with the same reference") },
  async run(context, asked) {
    const reference = asked.reference ?? (isInteractive(context.globals) ? await askReference(context) : undefined);
    return moveMoney(context, "credit", { ...asked, reference });
  },
});

/** Without a reference a payment that is recorded twice goes unnoticed. */
function askReference({ globals }: Context): Promise<string> {
  return text("Reference of the payment (Enter: none):", "--reference", globals, { optional: true });
}
