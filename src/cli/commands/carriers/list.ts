import { operatorList } from "../../frame/list-command.ts";
import { CARRIER_JSON, carrierColumns } from "./view.ts";

export default operatorList({
  json: `{data: [${CARRIER_JSON}], count}`,
  examples: ["carriers list"],
  options: {},
  columns: carrierColumns,
  empty: "No carriers.",
  async read(store) {
    const { listCarriers } = await import("../../../core/carriers/carrier.ts");
    return store.read(listCarriers, null);
  },
});
