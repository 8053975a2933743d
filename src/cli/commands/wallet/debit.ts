import { command } from "../../frame/command.ts";
import { FUNDED_JSON, fundingOptions, moveMoney } from "./funding.ts";

export default command({
  target: "operator",
  effects: "Writes one ledger transaction and lowers the balance, never below zero.",
  json: FUNDED_JSON,
  examples: ["wallet debit --partner acme --amount 25.50 --currency EUR --reference correction"],
  args: {},
  options: fundingOptions,
  run: (context, asked) => moveMoney(context, "debit", asked),
});
