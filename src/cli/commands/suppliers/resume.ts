import { command } from "../../frame/command.ts";
import { argument } from "../../kernel/input.ts";
import { OPERATOR } from "../../place/operator.ts";
import { SUPPLIER_JSON, supplierResult } from "./view.ts";

export default command({
  target: "operator",
  effects: "New orders of the supplier's products are accepted again from the daemon's next request on.",
  json: SUPPLIER_JSON,
  examples: ["suppliers resume northwind"],
  args: { name: argument("name", "the supplier") },
  options: {},
  async run(context, { name }) {
    const { resumeSupplier } = await import("../../../core/suppliers/pause.ts");
    const input = { name, actor: OPERATOR };
    return supplierResult(await context.withStore(({ store }) => store.write(resumeSupplier, input)));
  },
});
