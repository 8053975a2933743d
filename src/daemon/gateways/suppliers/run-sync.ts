import type { Store } from "../../../core/store/store.ts";
import { applySync, endSync, SYNC_STEP } from "../../../core/supply/sync.ts";
import { addStep, emptyReport, type SyncReport } from "../../../core/supply/sync-report.ts";
import { type SyncAsked, type SyncSurvey, surveySync } from "../../../core/supply/sync-survey.ts";
import type { Provider } from "./provider.ts";

/** A sync of a provider's catalog. */
interface SyncRun {
  store: Pick<Store, "read" | "write">;
  provider: Provider;
  asked: Omit<SyncAsked, "plans" | "unread">;
  /** Whether to say only what it would do. */
  dryRun: boolean;
  actor: string;
  /** The HTTP request that it serves. */
  requestId?: string;
  /** So many products are done, of all that there are to write. */
  progress?(done: number, total: number): void;
  /** Whether to end after the step under way. */
  isInterrupted?(): boolean;
}

/** What a sync has done, or would do; `ended` false: it was interrupted. */
export interface Synced {
  report: SyncReport;
  ended: boolean;
}

/** Reads a provider's catalog and takes it over, some products at a time. Throws as its API and `surveySync` do. */
export async function runSync(run: SyncRun): Promise<Synced> {
  const survey = await run.store.read(surveySync, { ...run.asked, ...(await run.provider.catalog()) });
  return run.dryRun ? { report: survey.report, ended: true } : write(run, survey);
}

async function write(
  { store, asked, actor, requestId, progress, isInterrupted }: SyncRun,
  survey: SyncSurvey,
): Promise<Synced> {
  const { supplier } = asked;
  const { targets, pricing, prefix } = survey;
  const report = emptyReport(survey.report.read);
  report.skipped.push(...survey.report.skipped);
  for (let at = 0; at < targets.length; at += SYNC_STEP) {
    if (isInterrupted?.()) return { report, ended: false };
    progress?.(at, targets.length);
    const part = { supplier, targets: targets.slice(at, at + SYNC_STEP), pricing, actor };
    addStep(report, await store.write(applySync, part, requestId));
  }
  // What needs no write was not sent.
  report.unchanged += survey.untouched;
  const { added, updated, deactivated, held } = report;
  const done = { added, updated, deactivated, held };
  const end = { supplier, markupPoints: pricing.markupPoints, prefix, report: done, actor };
  await store.write(endSync, end, requestId);
  return { report, ended: true };
}
