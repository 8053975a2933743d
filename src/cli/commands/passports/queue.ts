import { command } from "../../frame/command.ts";
import { printQueue, queueOptions } from "../../frame/list-command.ts";
import { OPERATOR_PASSPORT_JSON, operatorColumns } from "./passport.ts";

export default command({
  target: "operator",
  shows: "rows",
  effects: "Reads only.",
  json: `{data: [${OPERATOR_PASSPORT_JSON}], count}`,
  examples: ["passports queue", "passports queue --all --json"],
  args: {},
  options: queueOptions("records"),
  async run(context, { limit, all }) {
    const { verificationQueue } = await import("../../../core/passports/operator-view.ts");
    const look = { columns: operatorColumns, empty: "Nothing awaits verification." };
    return printQueue(context, { limit, all }, look, async (store, count, cursor: string | undefined) => {
      const { data, next_cursor } = await store.read(verificationQueue, { limit: count, cursor });
      return { data, next: next_cursor };
    });
  },
});
