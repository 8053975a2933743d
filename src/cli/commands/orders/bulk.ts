import { apiPath } from "../../client/api.ts";
import { command } from "../../command.ts";
import type { Context } from "../../context.ts";
import { type ExitCode, exitCodes } from "../../exit-codes.ts";
import { argument, flag } from "../../input.ts";
import type { Result } from "../../output/result.ts";
import type { Sheet } from "../../output/sheet.ts";

interface BulkAnswer {
  results: {
    external_order_id: string;
    service_order_id: string | null;
    status: "success" | "failed";
    error?: { code: string; message: string };
  }[];
  summary: { total: number; successful: number; failed: number };
}

/** Orders in one request, as the API takes them. */
const BATCH = 100;

export const bulk = command({
  name: "bulk",
  summary: "place many orders from CSV or JSON",
  stand: "partner",
  effects:
    "Charges the wallet order by order; one that fails stops no other. The same file again places nothing twice. " +
    "Rows that cannot be read go to FILE.rejected.csv, with all rows of their order.",
  json: "the API's bodies summed: {results: [{external_order_id, service_order_id, status, error?}], summary}",
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
      const { orders, rejected, rejectedFile } = await readBulkOrders(api, file);
      if (rejectedFile !== null) context.warn(`${rejected} rows cannot be used; they are in ${rejectedFile}.`);
      const sent = dryRun || (strict && rejected > 0) ? [] : orders;
      const answer: BulkAnswer = { results: [], summary: { total: 0, successful: 0, failed: 0 } };
      for (let at = 0; at < sent.length && !context.interruption.aborted; at += BATCH) {
        const body = { orders: sent.slice(at, at + BATCH) };
        add(answer, (await api.request<BulkAnswer>("POST", apiPath`/orders/bulk`, { body })).body);
      }
      return outcome(context, answer, { good: orders.length, rejected, dryRun });
    });
  },
});

function add(sum: BulkAnswer, { results, summary }: BulkAnswer): void {
  sum.results.push(...results);
  sum.summary.total += summary.total;
  sum.summary.successful += summary.successful;
  sum.summary.failed += summary.failed;
}

interface Read {
  good: number;
  rejected: number;
  dryRun: boolean;
}

function outcome(context: Context, answer: BulkAnswer, read: Read): Result {
  const exitCode = context.interruption.aborted ? exitCodes.interrupted : exitCodeOf(answer, read);
  return { json: answer, exitCode, text: (sheet) => words(sheet, answer, read) };
}

function exitCodeOf({ summary }: BulkAnswer, { good, rejected, dryRun }: Read): ExitCode {
  const done = dryRun ? good : summary.successful;
  if (done === 0) return exitCodes.failed;
  return rejected + summary.failed > 0 ? exitCodes.someFailed : exitCodes.done;
}

function words(sheet: Sheet, { results, summary }: BulkAnswer, { good, dryRun }: Read): string {
  if (dryRun) return `${good} orders can be placed; nothing was sent (dry run).`;
  const failed = results.filter((result) => result.status === "failed");
  const table = sheet.table(
    [
      { title: "order", value: (result) => result.external_order_id },
      { title: "why", value: ({ error }) => error?.code ?? "" },
      { title: "in words", value: ({ error }) => error?.message ?? "", shrinks: true },
    ],
    failed,
    "",
  );
  const summed = `${summary.total} orders: ${summary.successful} placed, ${summary.failed} failed.`;
  return failed.length > 0 ? `${table}\n\n${summed}` : summed;
}
