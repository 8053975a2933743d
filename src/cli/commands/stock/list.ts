import { operatorList } from "../../frame/list-command.ts";
import { STOCK_JSON, stockColumns } from "./view.ts";

export default operatorList({
  json: STOCK_JSON,
  examples: ["stock list", "stock list --json"],
  options: {},
  columns: stockColumns,
  empty: "No product is delivered from stock.",
  async read(store) {
    const { stockLevels } = await import("../../../core/esims/stock.ts");
    return store.read(stockLevels, { below: null });
  },
});
