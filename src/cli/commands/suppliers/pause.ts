import { command } from "../../frame/command.ts";
import { argument, required, text } from "../../kernel/input.ts";
import { OPERATOR } from "../../place/operator.ts";
import { SUPPLIER_JSON, supplierResult } from "./view.ts";

export default command({
  target: "operator",
  effects:
    "New orders with a product of the supplier are refused with 503 and the reason from the daemon's next request " +
    "on. What was accepted goes on, to the supplier too. Again: another reason.",
  json: SUPPLIER_JSON,
  examples: ['suppliers pause northwind --reason "the supplier is down for maintenance"'],
  args: { name: argument("name", "the supplier") },
  options: { reason: required(text("--reason <text>", "why, for the partners and the audit trail")) },
  async run(context, { name, reason }) {
    const { pauseSupplier } = await import("../../../core/suppliers/pause.ts");
    const input = { name, reason, actor: OPERATOR };
    return supplierResult(await context.withStore(({ store }) => store.write(pauseSupplier, input)));
  },
});
