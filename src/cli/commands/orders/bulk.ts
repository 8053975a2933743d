import { counted } from "../../../core/kernel/counted.ts";
import type { OrderBulkResult } from "../../client/answers.ts";
import { type Api, apiPath } from "../../client/api.ts";
import { type Context, command } from "../../frame/command.ts";
import { type ExitCode, exitCodes } from "../../kernel/exit-codes.ts";
import { argument, flag } from "../../kernel/input.ts";
import type { Result } from "../../output/result.ts";
import type { Sheet } from "../../output/sheet.ts";
import { endedWords } from "../../output/words.ts";
import { undeliveredNote } from "./view.ts";

/** Orders in one request, as the API takes them. */
const BATCH = 100;

export default command({
  target: "partner",
  effects:
    "Charges the wallet order by order; one that fails stops no other. The same file again places nothing twice. " +
    "Rows that cannot be read go to FILE.rejected.csv, with all rows of their order.",
  json: "the API's bodies summed: {results: [{external_order_id, service_order_id, status, replayed, …}], summary}",
  examples: ["orders bulk orders.csv --partner acme", "orders bulk orders.json --partner acme --dry-run"],
  exits: [exitCodes.someFailed],
  batches: true,
  args: {
    file: argument("file", "CSV (rows with one external_order_id are one order), or a .json array of the API's items"),
  },
  options: {
    dryRun: flag("--dry-run", "check all rows and stop there"),
    strict: flag("--strict", "send nothing if any row is bad"),
  },
  async run(context, { file, dryRun, strict }) {
    return context.withApi(async (api) => {
      const { readBulkOrders } = await import("./bulk-file.ts");
      const { orders, rejected, rejectedFile } = await readBulkOrders(api, file, context.interruption);
      if (rejectedFile !== null) {
        context.warn(`Rows that cannot be used: ${rejected}, in ${rejectedFile}.`);
      }
      const sent = dryRun || (strict && rejected > 0) ? [] : orders;
      const answer: OrderBulkResult = { results: [], summary: { total: 0, successful: 0, failed: 0 } };
      await place(context, api, sent, answer);
      const result = outcome(answer, {
        good: orders.length,
        rejected,
        dryRun,
        left: sent.length - answer.summary.total,
      });
      return answer.summary.successful === 0 ? result : { ...result, note: await undeliveredNote(context) };
    });
  },
});

/** Places orders batch by batch, to the end or to Ctrl-C, and adds their outcomes to `answer`. */
async function place(context: Context, api: Api, orders: readonly unknown[], answer: OrderBulkResult): Promise<void> {
  const { startProgress } = await import("../../output/progress.ts");
  const progress = startProgress(context.globals);
  try {
    for (let at = 0; at < orders.length && !context.interruption.aborted; at += BATCH) {
      progress.show("Ordering", at, orders.length);
      const body = { orders: orders.slice(at, at + BATCH) };
      add(answer, (await api.request<OrderBulkResult>("POST", apiPath`/orders/bulk`, { body })).body);
    }
  } catch (error) {
    // Ctrl-C also ends a wait for the server: what was placed until then is the end.
    if (!context.interruption.aborted) throw error;
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

interface Read {
  good: number;
  rejected: number;
  dryRun: boolean;
  /** Orders that Ctrl-C left unsent. */
  left: number;
}

function outcome(answer: OrderBulkResult, read: Read): Result {
  const exitCode = read.left > 0 ? exitCodes.interrupted : exitCodeOf(answer, read);
  return { json: answer, exitCode, text: (sheet) => endedWords(sheet, words(sheet, answer, read), exitCode) };
}

function exitCodeOf({ summary }: OrderBulkResult, { good, rejected, dryRun }: Read): ExitCode {
  const done = dryRun ? good : summary.successful;
  if (done === 0) return exitCodes.failed;
  return rejected + summary.failed > 0 ? exitCodes.someFailed : exitCodes.done;
}

function words(sheet: Sheet, { results, summary }: OrderBulkResult, { good, dryRun, left }: Read): string {
  if (dryRun) return `${counted(good, "order")} can be placed; nothing was sent (dry run).`;
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
