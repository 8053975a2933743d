import type { SyncReport } from "../../../core/supply/sync-report.ts";
import type { SyncAsked } from "../../../core/supply/sync-survey.ts";
import { type ShownChange, shownChanges, skippedWords, syncSummary } from "../../../core/supply/sync-words.ts";
import type { Synced } from "../../../daemon/gateways/suppliers/run-sync.ts";
import { type Context, command } from "../../frame/command.ts";
import { exitCodes } from "../../kernel/exit-codes.ts";
import { argument, flag, list, text } from "../../kernel/input.ts";
import { startProgress } from "../../output/progress.ts";
import type { Result } from "../../output/result.ts";
import type { Column, Sheet } from "../../output/sheet.ts";
import { endedWords } from "../../output/words.ts";
import { OPERATOR } from "../../place/operator.ts";
import { type Reach, withProviders } from "./provider.ts";

export default command({
  target: "operator",
  effects:
    "Reads the provider's catalog and adds or updates a product for each plan, with its cost. A price set by hand " +
    "stays; one that a changed cost leaves with a negative margin takes its product off sale, until products " +
    "update decides. A plan that is gone takes its product off sale until it is back; a row that cannot be read is " +
    "named, and the product of its plan stays as it is. Safe to repeat and interrupt.",
  json:
    "{read, added, updated, unchanged, deactivated, held, changes: [{sku, supplier_sku, field, from, to, currency " +
    "(of a cost or price)}], skipped: [{sku, reason; row, supplier_sku, name of a row that cannot be read}] (left " +
    "out where there is none)}",
  examples: [
    "suppliers sync ea --markup 35 --prefix EA- --dry-run",
    "suppliers sync ea --markup 35 --prefix EA- --only JP,EU --currency AUD",
    "suppliers sync ea",
  ],
  batches: true,
  args: { name: argument("name", "the provider") },
  options: {
    dryRun: flag("--dry-run", "show what would change, and change nothing"),
    markup: text("--markup <percent>", "on the cost (default: as the last time)"),
    only: list(
      "--only <places...>",
      "plans within these countries or regions of the provider; others stay as they are",
    ),
    prefix: text("--prefix <text>", "how SKUs of new products begin (default: as the last time)"),
    currency: text("--currency <code>", "of new products (default: that of the products before, else the plan's)"),
  },
  async run(context, { name, dryRun, markup, currency, ...given }) {
    const { parseMarkup } = await import("../../../core/supply/pricing.ts");
    const markupPoints = markup === undefined ? undefined : parseMarkup(markup);
    const asked = { ...given, supplier: name, markupPoints, currency: currency?.toUpperCase() };
    const { report, ended } = await withProviders(context, (reach) => sync(context, reach, { asked, dryRun }));
    return resultOf(report, { dryRun, ended });
  },
});

interface Given {
  asked: Omit<SyncAsked, "plans" | "unread">;
  dryRun: boolean;
}

async function sync(context: Context, reach: Reach, { asked, dryRun }: Given): Promise<Synced> {
  const { runSync } = await import("../../../daemon/gateways/suppliers/run-sync.ts");
  const provider = reach.provider(await reach.contact(asked.supplier));
  const progress = startProgress(context.globals);
  const { store } = reach;
  const isInterrupted = () => context.interruption.aborted;
  const shown = (done: number, total: number) => progress.show("products", done, total);
  try {
    progress.show(`reading the catalog of ${asked.supplier}`, 0, null);
    return await runSync({ store, provider, asked, dryRun, actor: OPERATOR, progress: shown, isInterrupted });
  } finally {
    progress.stop();
  }
}

const MOST_ROWS = 100;
const MOST_SKIPPED = 10;

const columns: Column<ShownChange>[] = [
  { title: "sku", value: ({ sku }) => sku },
  { title: "field", value: ({ field }) => field },
  { title: "before", value: ({ before }) => before, shrinks: true },
  { title: "now", value: ({ now }) => now, shrinks: true },
];

function resultOf({ skipped, ...report }: SyncReport, { dryRun, ended }: { dryRun: boolean; ended: boolean }): Result {
  const exitCode = ended ? exitCodes.done : exitCodes.interrupted;
  const text = (sheet: Sheet) => {
    const changes = shownChanges(report.changes.slice(0, MOST_ROWS), sheet.money);
    const more = report.changes.length - MOST_ROWS;
    const table = changes.length === 0 ? [] : [sheet.table(columns, changes, "")];
    const rest = more > 0 ? [`and ${more} more changes: --json shows all of them`] : [];
    const dry = dryRun ? ["Nothing was changed: this is what a sync would do."] : [];
    const summary = endedWords(sheet, syncSummary({ ...report, skipped }), exitCode);
    return [...table, ...rest, ...skippedText(skipped), ...dry, summary].join("\n\n");
  };
  return { json: { ...report, ...(skipped.length === 0 ? {} : { skipped }) }, text, exitCode };
}

/** How much was left out, and the first of it. */
function skippedText(skipped: SyncReport["skipped"]): string[] {
  if (skipped.length === 0) return [];
  const more = skipped.length - MOST_SKIPPED;
  const lines = skipped.slice(0, MOST_SKIPPED).map((one) => `  ${skippedWords(one)}`);
  const rest = more > 0 ? [`  and ${more} more: --json shows all of them`] : [];
  return [[`${skipped.length} left out:`, ...lines, ...rest].join("\n")];
}
