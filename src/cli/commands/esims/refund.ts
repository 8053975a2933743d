import { command } from "../../frame/command.ts";
import { askSupplier, RETURN_JSON } from "./give-back.ts";
import { esimArgument } from "./view.ts";

export default command({
  target: "operator",
  effects:
    "Asks the supplier to take the eSIM back. Once that is done, its price goes back to the partner's wallet and the " +
    "eSIM expires with its event. A request that people decide moves nothing: orders refund repays. Repeating it " +
    "answers what was done; after a lost answer it asks again. Exit 1: not available. Asks first.",
  json: RETURN_JSON,
  examples: ["esims refund 8944590004463637008", "esims refund 8944590004463637008 --yes --json"],
  args: { esim: esimArgument },
  options: {},
  run(context, { esim }) {
    const question = (iccid: string, supplier: string) =>
      `Give eSIM ${iccid} back to ${supplier}, and repay its price once that is done?`;
    return askSupplier(context, { given: esim, kind: "refund", question });
  },
});
