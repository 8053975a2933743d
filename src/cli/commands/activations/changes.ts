import { counted } from "../../../core/kernel/counted.ts";
import { withFindings } from "../../bulk/reading.ts";
import type { ActivationBulkResult, ActivationOutcome } from "../../client/answers.ts";
import { type Api, apiPath } from "../../client/api.ts";
import type { RejectedFile } from "../../csv/rejected.ts";
import type { Context } from "../../frame/command.ts";
import { CliError } from "../../kernel/errors.ts";
import { type ExitCode, exitCodes } from "../../kernel/exit-codes.ts";
import type { Result } from "../../output/result.ts";
import type { Sheet } from "../../output/sheet.ts";
import { endedWords } from "../../output/words.ts";
import type { TargetItem, Targets } from "./targets.ts";

/** A change of many requests: at once where the partner has an agent record, one by one where not. */
export interface Change<T extends TargetItem = TargetItem> {
  /** "Cancelling", for the bar. */
  label: string;
  done: "cancelled" | "rescheduled";
  /** Changes up to 200 in one request, outcomes in their order. */
  many(api: Api, items: readonly T[]): Promise<ActivationOutcome[]>;
  /** Changes one. */
  one(api: Api, item: T): Promise<ActivationOutcome["activation"]>;
}

/** Most items of one request. */
const BATCH = 200;

/**
 * Changes all items in their order, to the end or to Ctrl-C, and answers the API's body summed, with what had `failed`
 * before.
 */
export async function changeAll<T extends TargetItem>(
  context: Context,
  api: Api,
  targets: Targets & { items: T[]; failed?: readonly ActivationOutcome[] },
  change: Change<T>,
): Promise<Result> {
  const { items, failed: before = [] } = targets;
  const results: ActivationOutcome[] = [];
  try {
    await changeBatches(context, api, { items, change, results });
    for (const [at, { reason }] of results.entries()) {
      const row = items[at]?.row;
      if (reason !== undefined && row !== undefined) await targets.rejects?.reject(row, [reason]);
    }
  } catch (error) {
    await targets.close();
    throw error;
  }
  const rejected_file = await targets.close();
  const left = items.length - results.length;
  results.push(...before);
  const failed = results.filter((result) => result.status === "failed").length;
  const summary = { total: results.length, successful: results.length - failed, failed };
  return present({ results, summary }, { ...targets, rejected_file, left });
}

interface Work<T extends TargetItem> {
  items: readonly T[];
  change: Change<T>;
  /** The outcome of each, in the order of the items; after Ctrl-C of the first ones only. */
  results: ActivationOutcome[];
}

async function changeBatches<T extends TargetItem>(context: Context, api: Api, work: Work<T>): Promise<void> {
  const { items, change, results } = work;
  const { startProgress } = await import("../../output/progress.ts");
  const progress = startProgress(context.globals);
  let inBulk = true;
  try {
    for (let at = 0; at < items.length && !context.interruption.aborted; at += BATCH) {
      const batch = items.slice(at, at + BATCH);
      const done: ActivationOutcome[] | null = inBulk ? await inOneRequest(api, batch, change) : null;
      inBulk = done !== null;
      if (done === null) await oneByOne(context, api, { items: batch, change, results });
      else results.push(...done);
      progress.show(change.label, results.length, items.length);
    }
  } catch (error) {
    // Ctrl-C also ends a wait for the server: what was done until then is the end.
    if (!context.interruption.aborted) throw error;
  } finally {
    progress.stop();
  }
}

/** The outcomes of a batch; null: the partner has no agent record. */
async function inOneRequest<T extends TargetItem>(api: Api, batch: readonly T[], change: Change<T>) {
  try {
    return await change.many(api, batch);
  } catch (error) {
    if (error instanceof CliError && error.code === "no_agent_record") return null;
    throw error;
  }
}

async function oneByOne<T extends TargetItem>(
  context: Context,
  api: Api,
  { items, change, results }: Work<T>,
): Promise<void> {
  for (const item of items) {
    if (context.interruption.aborted) return;
    // The keys are what the caller gave; the API's own type brands them.
    const key = item.key as Pick<ActivationOutcome, "activation_id" | "iccid">;
    try {
      const activation = await change.one(api, item);
      results.push({ ...key, status: change.done, ...(activation === undefined ? {} : { activation }) });
    } catch (error) {
      results.push({ ...key, status: "failed", reason: reasonOf(error) });
    }
  }
}

/** Refusals of one request by their codes, as the bulk endpoints give them. Rethrows any other error. */
function reasonOf(error: unknown): string {
  if (!(error instanceof CliError)) throw error;
  const body = error.cause;
  const member = (name: string): unknown =>
    typeof body === "object" && body !== null ? Reflect.get(body, name) : undefined;
  const [status, reason] = [member("current_status"), member("reason")];
  if (typeof status === "string") return `${error.code}:${status}`;
  if (typeof reason === "string") return reason;
  if (error.code === "not_found" || error.code === "invalid_activation_date") return error.code;
  throw error;
}

interface Rest {
  rejected: number;
  rejects: RejectedFile | null;
  suggestions: string[];
  rejected_file: string | null;
  /** Items that Ctrl-C left undone. */
  left: number;
}

function present(body: ActivationBulkResult, rest: Rest): Result {
  const { rejected, rejects, rejected_file, left } = rest;
  const exitCode = left > 0 ? exitCodes.interrupted : exitCodeOf(body.summary, rejected);
  const findings = { reasons: rejects?.reasons() ?? [], suggestions: rest.suggestions };
  const json = rejects === null ? body : { ...body, rejected, rejected_file, ...findings };
  const text = (sheet: Sheet) => endedWords(sheet, withFindings(sheet, words(sheet, body, rest), findings), exitCode);
  return { json, exitCode, text };
}

function exitCodeOf({ successful, failed }: ActivationBulkResult["summary"], rejected: number): ExitCode {
  if (failed + rejected === 0) return exitCodes.done;
  return successful > 0 ? exitCodes.someFailed : exitCodes.failed;
}

function words(sheet: Sheet, { results, summary }: ActivationBulkResult, file: Rest): string {
  const failures = sheet.table(
    [
      { title: "request", value: (one) => one.activation_id ?? one.iccid ?? "" },
      { title: "why", value: (one) => whyWords(one.reason ?? ""), wraps: true },
    ],
    results.filter((one) => one.status === "failed"),
    "",
  );
  const bad = file.rejected === 0 ? "" : ` ${counted(file.rejected, "row")} could not be used.`;
  const where = file.rejected_file === null ? "" : ` See ${file.rejected_file}.`;
  const summed = `${counted(summary.total, "request")}: ${summedWords(summary)}.${bad}${where}${leftWords(file.left)}`;
  return failures === "" ? summed : `${failures}\n\n${summed}`;
}

/** The API's codes in words. */
const whys: Readonly<Record<string, string>> = {
  not_found: "there is no open request for it",
  not_cancellable: "only a pending request can be cancelled",
  not_editable: "only a pending request can be changed",
  invalid_activation_date: "the date is past in Sydney, or no real one",
  passport_expired: "the passport expires before the new date",
};

function whyWords(reason: string): string {
  const [code = "", status] = reason.split(":");
  const words = whys[code] ?? code.replaceAll("_", " ");
  return status === undefined ? words : `it is ${status}: ${words}`;
}

function summedWords({ successful, failed }: ActivationBulkResult["summary"]): string {
  if (failed === 0) return `${successful} done`;
  return successful === 0 ? `${failed} failed` : `${successful} done, ${failed} failed`;
}

function leftWords(left: number): string {
  return left > 0 ? ` ${left} more were left as they are.` : "";
}

/** A single request's path, by what it was named with. */
export function pathOf({ key }: TargetItem, ending: "" | "/cancel"): string {
  const path =
    "iccid" in key ? apiPath`/activations/by-iccid/${key.iccid}` : apiPath`/activations/${key.activation_id}`;
  return path + ending;
}
