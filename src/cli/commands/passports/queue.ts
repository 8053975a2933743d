import type { OperatorPassport } from "../../../core/passports/operator-view.ts";
import { command } from "../../frame/command.ts";
import { flag, integer } from "../../kernel/input.ts";
import { listResult } from "../../output/result.ts";
import { OPERATOR_PASSPORT_JSON, operatorColumns } from "./view.ts";

const PAGE = 200;

export default command({
  target: "operator",
  effects: "Reads only.",
  json: `{data: [${OPERATOR_PASSPORT_JSON}], count}`,
  examples: ["passports queue", "passports queue --all --json"],
  args: {},
  options: {
    limit: integer("--limit <n>", "records to show (default 100)", { min: 1, max: 10_000 }),
    all: flag("--all", "every one of them"),
  },
  async run(context, { limit, all }) {
    const { verificationQueue } = await import("../../../core/passports/operator-view.ts");
    const most = all ? Number.POSITIVE_INFINITY : (limit ?? 100);
    const waiting: OperatorPassport[] = [];
    const more = await context.withStore(async ({ store }) => {
      let cursor: string | null | undefined;
      while (waiting.length < most && cursor !== null) {
        const ask = { limit: Math.min(PAGE, most - waiting.length), cursor };
        const page: { data: OperatorPassport[]; next_cursor: string | null } = await store.read(verificationQueue, ask);
        waiting.push(...page.data);
        cursor = page.next_cursor;
      }
      return cursor !== null;
    });
    if (more) context.note("There is more: --all shows everything.");
    return listResult(waiting, operatorColumns, "Nothing awaits verification.");
  },
});
