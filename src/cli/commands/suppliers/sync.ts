import type { SyncChange } from "../../../core/supply/sync-diff.ts";
import type { SyncReport } from "../../../core/supply/sync-report.ts";
import type { SyncAsked, SyncSurvey } from "../../../core/supply/sync-survey.ts";
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
    "update decides. A plan that is gone takes its product off sale until it is back. Safe to repeat and interrupt.",
  json:
    "{read, added, updated, unchanged, deactivated, held, changes: [{sku, supplier_sku, field, from, to}], skipped: " +
    "[{sku, reason}] (left out where there is none)}",
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
    for (const { sku, reason } of report.skipped) context.warn(`${sku} is left out: it ${reason}`);
    return resultOf(report, { dryRun, ended });
  },
});

interface Given {
  asked: Omit<SyncAsked, "plans">;
  dryRun: boolean;
}

interface Synced {
  report: SyncReport;
  /** False: it was interrupted. */
  ended: boolean;
}

async function sync(context: Context, reach: Reach, { asked, dryRun }: Given): Promise<Synced> {
  const { surveySync } = await import("../../../core/supply/sync-survey.ts");
  const provider = reach.provider(await reach.contact(asked.supplier));
  const progress = startProgress(context.globals);
  try {
    progress.show(`reading the catalog of ${asked.supplier}`, 0, null);
    const plans = await provider.plans();
    const survey = await reach.store.read(surveySync, { ...asked, plans });
    if (dryRun) return { report: survey.report, ended: true };
    return await write(context, reach, { supplier: asked.supplier, survey, shown: progress.show });
  } finally {
    progress.stop();
  }
}

interface Writing {
  supplier: string;
  survey: SyncSurvey;
  shown(label: string, done: number, total: number): void;
}

async function write(
  { interruption }: Context,
  { store }: Reach,
  { supplier, survey, shown }: Writing,
): Promise<Synced> {
  const [{ applySync, endSync, SYNC_STEP }, { addStep, emptyReport }] = await Promise.all([
    import("../../../core/supply/sync.ts"),
    import("../../../core/supply/sync-report.ts"),
  ]);
  const { targets, pricing, prefix } = survey;
  const report = emptyReport(survey.report.read);
  report.skipped.push(...survey.report.skipped);
  for (let at = 0; at < targets.length; at += SYNC_STEP) {
    if (interruption.aborted) return { report, ended: false };
    shown("products", at, targets.length);
    const part = { supplier, targets: targets.slice(at, at + SYNC_STEP), pricing, actor: OPERATOR };
    addStep(report, await store.write(applySync, part));
  }
  // What needs no write was not sent.
  report.unchanged += survey.untouched;
  const { added, updated, deactivated, held } = report;
  const done = { added, updated, deactivated, held };
  const { markupPoints } = pricing;
  await store.write(endSync, { supplier, markupPoints, prefix, report: done, actor: OPERATOR });
  return { report, ended: true };
}

const MOST_ROWS = 100;

const columns: Column<SyncChange>[] = [
  { title: "sku", value: ({ sku }) => sku },
  { title: "field", value: ({ field }) => field },
  { title: "before", value: ({ from }) => wordOf(from), shrinks: true },
  { title: "now", value: ({ to }) => wordOf(to), shrinks: true },
];

function wordOf(value: SyncChange["from"]): string | null {
  return value === null ? null : String(value);
}

function resultOf({ skipped, ...report }: SyncReport, { dryRun, ended }: { dryRun: boolean; ended: boolean }): Result {
  const exitCode = ended ? exitCodes.done : exitCodes.interrupted;
  const { read, added, updated, unchanged, deactivated, held, changes } = report;
  const summary =
    `${read} plans read: ${added} added, ${updated} updated, ${unchanged} unchanged, ${deactivated} deactivated, ` +
    `${held} held`;
  const text = (sheet: Sheet) => {
    const more = changes.length - MOST_ROWS;
    const table = changes.length === 0 ? [] : [sheet.table(columns, changes.slice(0, MOST_ROWS), "")];
    const rest = more > 0 ? [`and ${more} more changes: --json shows all of them`] : [];
    const dry = dryRun ? ["Nothing was changed: this is what a sync would do."] : [];
    return [...table, ...rest, ...dry, endedWords(sheet, summary, exitCode)].join("\n\n");
  };
  return { json: { ...report, ...(skipped.length === 0 ? {} : { skipped }) }, text, exitCode };
}
