import { command } from "../../frame/command.ts";
import { integer } from "../../kernel/input.ts";
import { listResult } from "../../output/result.ts";
import { STOCK_JSON, stockColumns } from "./view.ts";

const DEFAULT_BELOW = 10;

export default command({
  target: "operator",
  shows: "rows",
  effects: "Reads only. Low stock is no fault: the exit code stays 0.",
  json: STOCK_JSON,
  examples: ["stock low", "stock low --below 50"],
  args: {},
  options: { below: integer("--below <n>", `fewer than this (default ${DEFAULT_BELOW})`) },
  async run(context, { below = DEFAULT_BELOW }) {
    const { stockLevels } = await import("../../../core/esims/stock.ts");
    const levels = await context.withStore(({ store }) => store.read(stockLevels, { below }));
    const result = listResult(levels, stockColumns, `Every stocked product on sale has ${below} or more.`);
    return levels.length === 0 ? result : { ...result, note: `On sale with fewer than ${below} eSIMs in stock.` };
  },
});
