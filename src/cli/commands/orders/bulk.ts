import { counted } from "../../../core/kernel/counted.ts";
import { readingOptions, withFindings } from "../../bulk/reading.ts";
import type { OrderBulkResult } from "../../client/answers.ts";
import { type Api, apiPath } from "../../client/api.ts";
import { bulkOrdersCsv } from "../../csv/specs.ts";
import { type Context, command } from "../../frame/command.ts";
import { confirmSuspended } from "../../frame/confirm-suspended.ts";
import { type ExitCode, exitCodes } from "../../kernel/exit-codes.ts";
import { argument, flag } from "../../kernel/input.ts";
import type { Result } from "../../output/result.ts";
import type { Sheet } from "../../output/sheet.ts";
import { endedWords } from "../../output/words.ts";
import { batchesOf } from "./batches.ts";
import type { BulkFile, Given } from "./bulk-file.ts";
import type { Forecast } from "./forecast.ts";
import { undeliveredNote } from "./order.ts";

export default command({
  target: "partner",
  effects:
    "Charges the wallet order by order; one that fails stops no other. The same file again places nothing twice. " +
    "Rows that cannot be used go to FILE.rejected.csv, with all rows of their order; items to FILE.rejected.json.",
  json:
    "the API's bodies summed: {results: [{external_order_id, service_order_id, status, replayed, …}], summary}, and " +
    "rejected, rejected_file, reasons, suggestions; with --dry-run dry_run: {orders, units, totals, stock, …}, at a " +
    "server also refused: [{external_order_id, code, message}]",
  examples: ["orders bulk orders.csv --partner acme", "orders bulk orders.json --partner acme --dry-run"],
  exits: [exitCodes.someFailed],
  batches: true,
  csv: bulkOrdersCsv,
  args: {
    file: argument(
      "file",
      "CSV (rows with one external_order_id are one order), a .json array of the API's items, or - for either on stdin",
    ),
  },
  options: {
    dryRun: flag(
      "--dry-run",
      "check all of it, add up what they take of wallet and stock, at a server by a quote, and stop there",
    ),
    strict: flag("--strict", "send nothing if any row or item is bad"),
    ...readingOptions,
  },
  async run(context, { file, dryRun, strict, ...reading }) {
    return context.withApi(async (api) => {
      const read = await readBulkOrders(context, api, { file, reading });
      const { orders, rejected, rejectedFile, what } = read;
      if (rejectedFile !== null) {
        context.warn(`${what} that cannot be used: ${rejected}, in ${rejectedFile}.`);
      }
      const sent = dryRun || (strict && rejected > 0) ? [] : orders;
      const answer: OrderBulkResult = { results: [], summary: { total: 0, successful: 0, failed: 0 } };
      if (sent.length > 0) await confirmSuspended(context, api);
      await place(context, api, sent, answer);
      const planned = dryRun ? await (await import("./forecast.ts")).forecast(api, orders) : null;
      const result = await outcome(answer, { ...read, planned, left: sent.length - answer.summary.total });
      return answer.summary.successful === 0 ? result : { ...result, note: await undeliveredNote(context) };
    });
  },
});

const AGAIN = "The same file again goes on from there, and places nothing twice.";

/** Places orders batch by batch, to the end or to Ctrl-C, and adds their outcomes to `answer`. */
async function place(context: Context, api: Api, orders: readonly unknown[], answer: OrderBulkResult): Promise<void> {
  const { startProgress } = await import("../../output/progress.ts");
  const progress = startProgress(context.globals);
  try {
    for (const batch of batchesOf(orders)) {
      if (context.interruption.aborted) break;
      progress.show("Ordering", answer.summary.total, orders.length);
      const body = { orders: batch };
      add(answer, (await api.request<OrderBulkResult>("POST", apiPath`/orders/bulk`, { body })).body);
    }
  } catch (error) {
    // Ctrl-C also ends a wait for the server: what was placed until then is the end.
    if (context.interruption.aborted) return;
    progress.stop();
    const { successful } = answer.summary;
    if (successful > 0) context.warn(`Placed until then: ${counted(successful, "order")}. ${AGAIN}`);
    throw error;
  } finally {
    progress.stop();
  }
}

function add(sum: OrderBulkResult, { results, summary }: OrderBulkResult): void {
  sum.results.push(...results);
  sum.summary.total += summary.total;
  sum.summary.successful += summary.successful;
  sum.summary.failed += summary.failed;
}

interface Read extends BulkFile {
  /** What a dry run found; null: the orders were sent. */
  planned: Forecast | null;
  /** Orders that Ctrl-C left unsent. */
  left: number;
}

async function outcome(answer: OrderBulkResult, read: Read): Promise<Result> {
  const { someFail, forecastText } = await import("./forecast.ts");
  const { planned, rejected, rejectedFile: rejected_file, reasons, suggestions, named } = read;
  const failing = planned !== null && someFail(planned);
  const exitCode = read.left > 0 ? exitCodes.interrupted : exitCodeOf(answer, read, failing);
  const file = { rejected, rejected_file, reasons, suggestions };
  const json = { ...answer, ...file, ...(planned === null ? {} : { dry_run: planned }) };
  const text = (sheet: Sheet) => {
    const below = planned === null ? "" : `\n${forecastText(sheet, planned)}`;
    const body = words(sheet, answer, read) + below;
    const whole = named.length > 0 ? `${body}\n\n${named.join("\n")}` : withFindings(sheet, body, file);
    return endedWords(sheet, whole, exitCode);
  };
  return { json, exitCode, text };
}

function exitCodeOf({ summary }: OrderBulkResult, { orders, rejected, planned }: Read, failing: boolean): ExitCode {
  const done = planned === null ? summary.successful : orders.length;
  if (done === 0) return exitCodes.failed;
  return failing || rejected + summary.failed > 0 ? exitCodes.someFailed : exitCodes.done;
}

function words(sheet: Sheet, { results, summary }: OrderBulkResult, { orders, planned, left }: Read): string {
  if (planned !== null) return `${counted(orders.length, "order")} read; nothing was sent (dry run).`;
  const failed = results.filter((result) => result.status === "failed");
  const table = sheet.table(
    [
      { title: "order", value: (result) => result.external_order_id },
      { title: "why", value: ({ error }) => error?.code ?? "" },
      { title: "in words", value: ({ error }) => error?.message ?? "", wraps: true },
    ],
    failed,
    "",
  );
  // The API answers an order that was there with the same success.
  const placed = summary.successful > 0 ? [`${summary.successful} placed, now or before`] : [];
  const failures = summary.failed > 0 ? [`${summary.failed} failed`] : [];
  const unsent = left > 0 ? [`${left} not sent`] : [];
  const done = [...placed, ...failures, ...unsent].join("; ") || "none placed";
  const summed = `${counted(summary.total + left, "order")}: ${done}.`;
  return failed.length > 0 ? `${table}\n\n${summed}` : summed;
}

/** Reads orders from a .json array, from CSV, or from either on standard input. */
async function readBulkOrders(context: Context, api: Api, given: Given): Promise<BulkFile> {
  const [{ readCsvOrders }, { readJsonOrders }] = await Promise.all([
    import("./bulk-csv.ts"),
    import("./bulk-json.ts"),
  ]);
  if (/\.json$/i.test(given.file)) return readJsonOrders(given);
  if (given.file !== "-") return readCsvOrders(context, api, given);
  const { peekForJson } = await import("../../bulk/json-input.ts");
  const { isJson, input } = await peekForJson(process.stdin, context.interruption);
  const peeked = { ...given, stdin: input };
  return isJson ? readJsonOrders(peeked) : readCsvOrders(context, api, peeked);
}
