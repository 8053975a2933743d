import { command } from "../../frame/command.ts";
import { listResult } from "../../output/result.ts";
import { STOCK_JSON, stockColumns } from "./view.ts";

export const list = command({
  name: "list",
  summary: "how many eSIMs are free, by product",
  target: "operator",
  effects: "Reads only.",
  json: STOCK_JSON,
  examples: ["stock list", "stock list --json"],
  args: {},
  options: {},
  async run(context) {
    const { stockLevels } = await import("../../../core/esims/stock-levels.ts");
    const levels = await context.withStore(({ store }) => store.read(stockLevels, { below: null }));
    return listResult(levels, stockColumns, "No product is delivered from stock.");
  },
});
