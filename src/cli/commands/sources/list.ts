import { SOURCE_POLICY } from "../../../core/supply/source-words.ts";
import { command } from "../../frame/command.ts";
import { argument } from "../../kernel/input.ts";
import { listResult } from "../../output/result.ts";
import { SOURCE_JSON, sourceColumns } from "./view.ts";

export default command({
  target: "operator",
  shows: "rows",
  effects: `Reads only. ${SOURCE_POLICY}`,
  json: `{data: [${SOURCE_JSON}], count}`,
  examples: ["sources list EA-CJP101"],
  args: { sku: argument("sku", "the product") },
  options: {},
  async run(context, { sku }) {
    const { listSources } = await import("../../../core/supply/sources.ts");
    const sources = await context.withStore(({ store }) => store.read(listSources, { sku }));
    return listResult(sources, sourceColumns, `${sku} has no sources: esimctl sources add gives it one.`);
  },
});
