import { command } from "../../frame/command.ts";
import { choice, excluding, flag } from "../../kernel/input.ts";
import { askSupplier, RETURN_JSON, settle } from "./give-back.ts";
import { esimArgument } from "./view.ts";

export default command({
  target: "operator",
  effects:
    "Asks the supplier to take the eSIM back. Once that is done, its price goes back to the partner's wallet and the " +
    "eSIM expires with its event. A request that people at the supplier decide moves nothing: status has it, and " +
    "--granted or --denied settles it once they did; the first is then done like any other. Repeating a refund " +
    "answers what was done; after a lost answer it asks again. Exit 1: not available. Asks first.",
  json: RETURN_JSON,
  examples: [
    "esims refund 8944590004463637008",
    "esims refund 8944590004463637008 --yes --json",
    "esims refund 8944590004463637008 --granted",
  ],
  args: { esim: esimArgument },
  options: {
    granted: flag("--granted", "the supplier's people granted what was requested: repay it"),
    denied: excluding(flag("--denied", "they denied it: nothing moves, and it may be asked for again"), "--granted"),
    repaid: excluding(
      choice("--repaid <yes|no>", ["yes", "no"], "whether orders refund repaid this very eSIM before; where unclear"),
      "--denied",
    ),
  },
  run(context, { esim, granted, denied, ...said }) {
    const repaid = said.repaid === undefined ? undefined : said.repaid === "yes";
    if (granted || denied) return settle(context, { given: esim, granted, repaid });
    const question = (iccid: string, supplier: string) =>
      `Give eSIM ${iccid} back to ${supplier}, and repay its price once that is done?`;
    return askSupplier(context, { given: esim, kind: "refund", repaid, question });
  },
});
