import { command } from "../../frame/command.ts";
import { askSupplier, RETURN_JSON } from "./give-back.ts";
import { esimArgument } from "./view.ts";

export default command({
  target: "operator",
  effects:
    "Asks the supplier for another eSIM in the place of a faulty one, which takes the place in the order: its links " +
    "show the new code, and its traveler's event goes out again. No money moves. Exit 1: not available. Asks first.",
  json: RETURN_JSON,
  examples: ["esims replace 8944590004463637008", "esims replace 8944590004463637008 --yes --json"],
  args: { esim: esimArgument },
  options: {},
  run(context, { esim }) {
    const question = (iccid: string, supplier: string) => `Ask ${supplier} for another eSIM in the place of ${iccid}?`;
    return askSupplier(context, { given: esim, kind: "replace", question });
  },
});
