import { operatorList } from "../../frame/list-command.ts";
import { SUPPLIER_JSON, supplierColumns } from "./view.ts";

export default operatorList({
  json: `{data: [${SUPPLIER_JSON}], count}`,
  examples: ["suppliers list"],
  options: {},
  columns: supplierColumns,
  empty: "No suppliers yet: esimctl suppliers set adds one.",
  async read(store) {
    const { listSuppliers } = await import("../../../core/suppliers/supplier.ts");
    return store.read(listSuppliers, null);
  },
});
