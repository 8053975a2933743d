import { operatorList } from "../../frame/list-command.ts";
import { RATE_JSON, rateColumns } from "./view.ts";

export default operatorList({
  json: `{data: [${RATE_JSON}], count}`,
  examples: ["fx list"],
  options: {},
  columns: rateColumns,
  empty: "No rates yet: esimctl fx set adds one.",
  async read(store) {
    const { listRates } = await import("../../../core/prices/rates.ts");
    return store.read(listRates, null);
  },
});
