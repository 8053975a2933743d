import type { Alert } from "../../../core/alerts/list.ts";
import { command } from "../../frame/command.ts";
import { integer } from "../../kernel/input.ts";
import type { Column } from "../../output/sheet.ts";
import { moment } from "../../output/words.ts";
import { TARGET_JSON, targetColumns } from "./view.ts";

const columns: Column<Alert>[] = [
  { title: "kind", value: (one) => one.kind },
  { title: "subject", value: (one) => one.subject },
  { title: "raised", value: (one) => moment(one.raised_at) },
  { title: "over", value: (one) => (one.over_at === null ? null : moment(one.over_at)) },
  { title: "detail", value: (one) => one.detail, wraps: true },
];

export default command({
  target: "operator",
  shows: "rows",
  effects: "Reads only. What is raised comes first, then what is over, newest first.",
  json: `{data: [{kind, subject, detail, raised_at, over_at}], count, targets: [${TARGET_JSON}], review_minutes}`,
  examples: ["alerts list", "alerts list --limit 0 --json"],
  args: {},
  options: { limit: integer("--limit <n>", "most that are over (default 20)", { max: 1_000 }) },
  async run(context, { limit = 20 }) {
    const { listAlerts } = await import("../../../core/alerts/list.ts");
    const found = await context.withStore(({ store }) => store.read(listAlerts, { limit }));
    const { alerts: data, ...rest } = found;
    return {
      json: { data, count: data.length, ...rest },
      rows: data,
      text: (sheet) =>
        [
          sheet.table(columns, found.alerts, "Nothing is wrong."),
          sheet.table(targetColumns, found.targets, "Alerts go nowhere: esimctl alerts set --email … or --webhook …."),
        ].join("\n\n"),
    };
  },
});
