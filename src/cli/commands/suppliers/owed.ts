import { type MonthSpan, monthSpan } from "../../../core/kernel/month.ts";
import type { Owed } from "../../../core/supply/costs.ts";
import { command } from "../../frame/command.ts";
import { usageError } from "../../kernel/errors.ts";
import { required, text } from "../../kernel/input.ts";
import { listResult } from "../../output/result.ts";
import type { Column } from "../../output/sheet.ts";

const columns: Column<Owed>[] = [
  { title: "supplier", value: ({ supplier }) => supplier },
  { title: "units", value: ({ units }) => units, align: "right" },
  { title: "cost", value: ({ cost, currency }) => `${cost} ${currency}`, align: "right" },
];

export default command({
  target: "operator",
  shows: "rows",
  effects:
    "Reads only: what the ledger has posted as bought in the month, top-ups included, without what suppliers gave " +
    "back. Months are those of UTC.",
  json: "{data: [{supplier, currency, units, cost, cost_cents}], count}",
  examples: ["suppliers owed --month 2026-11", "suppliers owed --month 2026-11 --csv"],
  args: {},
  options: { month: required(text("--month <yyyy-mm>", "the month")) },
  async run(context, { month }) {
    const { owedToSuppliers } = await import("../../../core/supply/costs.ts");
    const span = spanOf(month);
    const owed = await context.withStore(({ store }) => store.read(owedToSuppliers, span));
    return listResult(owed, columns, `Nothing was bought from suppliers in ${month}.`);
  },
});

function spanOf(month: string): MonthSpan {
  const span = monthSpan(month);
  if (span === null) throw usageError(`--month must be a month such as 2026-11, not "${month}".`, "Correct it.");
  return span;
}
