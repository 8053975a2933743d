import { command } from "../../frame/command.ts";
import { FUNDED_JSON, fundingOptions, moveMoney } from "./funding.ts";

export default command({
  target: "operator",
  effects: "Writes one ledger transaction and raises the balance.",
  json: FUNDED_JSON,
  examples: ["wallet credit --partner acme --amount 1000.00 --currency AUD --reference INV-2041"],
  args: {},
  options: fundingOptions,
  run: (context, asked) => moveMoney(context, "credit", asked),
});
