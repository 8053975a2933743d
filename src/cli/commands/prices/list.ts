import { operatorList } from "../../frame/list-command.ts";
import { LIST_JSON, listColumns } from "./view.ts";

export default operatorList({
  json: `{data: [${LIST_JSON}], count}`,
  examples: ["prices list"],
  options: {},
  columns: listColumns,
  empty: "No price lists yet: esimctl prices set makes one.",
  async read(store) {
    const { listPriceLists } = await import("../../../core/prices/lists.ts");
    return store.read(listPriceLists, null);
  },
});
