import { command } from "../../frame/command.ts";
import { listResult } from "../../output/result.ts";
import { SUPPLIER_JSON, supplierColumns } from "./view.ts";

export const list = command({
  name: "list",
  summary: "all suppliers, by name",
  target: "operator",
  effects: "Reads only.",
  json: `{data: [${SUPPLIER_JSON}], count}`,
  examples: ["suppliers list"],
  args: {},
  options: {},
  async run(context) {
    const { listSuppliers } = await import("../../../core/suppliers/supplier.ts");
    const suppliers = await context.withStore(({ store }) => store.read(listSuppliers, null));
    return listResult(suppliers, supplierColumns, "No suppliers yet: esimctl suppliers set adds one.");
  },
});
