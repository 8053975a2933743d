import { command } from "../../frame/command.ts";
import { exitCodes } from "../../kernel/exit-codes.ts";
import { flag, integer } from "../../kernel/input.ts";
import { listResult } from "../../output/result.ts";
import { STOCK_JSON, stockColumns } from "./view.ts";

const DEFAULT_BELOW = 10;

export default command({
  target: "operator",
  shows: "rows",
  effects: "Reads only. Low stock is no fault: the exit code stays 0, unless --exit-code is given.",
  json: STOCK_JSON,
  examples: ["stock low", "stock low --below 50", "stock low --below 50 --exit-code --quiet"],
  args: {},
  options: {
    below: integer("--below <n>", `fewer than this (default ${DEFAULT_BELOW})`),
    exitCode: flag("--exit-code", "exit code 1 when a product is low"),
  },
  async run(context, { below = DEFAULT_BELOW, exitCode }) {
    const { stockLevels } = await import("../../../core/esims/stock.ts");
    const levels = await context.withStore(({ store }) => store.read(stockLevels, { below }));
    const result = listResult(levels, stockColumns, `Every stocked product on sale has ${below} or more.`);
    if (levels.length === 0) return result;
    const note = `On sale with fewer than ${below} eSIMs in stock.`;
    return { ...result, note, exitCode: exitCode ? exitCodes.failed : exitCodes.done };
  },
});
