import { linesWords } from "../../../core/csv/clashes.ts";
import type { CsvRow } from "../../../core/csv/rows.ts";
import { counted } from "../../../core/kernel/counted.ts";
import { type Findings, type Reading, readingOf, readingOptions, withFindings } from "../../bulk/reading.ts";
import type { OrderBulkResult } from "../../client/answers.ts";
import { type Api, apiPath } from "../../client/api.ts";
import { productId } from "../../client/product-id.ts";
import type { CsvFile } from "../../csv/open.ts";
import { bulkOrdersCsv } from "../../csv/specs.ts";
import { type Context, command } from "../../frame/command.ts";
import { confirmSuspended } from "../../frame/confirm-suspended.ts";
import { CliError } from "../../kernel/errors.ts";
import { type ExitCode, exitCodes } from "../../kernel/exit-codes.ts";
import { argument, flag } from "../../kernel/input.ts";
import type { Result } from "../../output/result.ts";
import type { Sheet } from "../../output/sheet.ts";
import { endedWords } from "../../output/words.ts";
import type { Forecast } from "./forecast.ts";
import { undeliveredNote } from "./order.ts";

/** Orders in one request, as the API takes them. */
const BATCH = 100;

export default command({
  target: "partner",
  effects:
    "Charges the wallet order by order; one that fails stops no other. The same file again places nothing twice. " +
    "Rows that cannot be read go to FILE.rejected.csv, with all rows of their order.",
  json:
    "the API's bodies summed: {results: [{external_order_id, service_order_id, status, replayed, …}], summary}, and " +
    "rejected, rejected_file, reasons, suggestions; with --dry-run dry_run: {orders, units, totals, stock, …}, at a " +
    "server also refused: [{external_order_id, code, message}]",
  examples: ["orders bulk orders.csv --partner acme", "orders bulk orders.json --partner acme --dry-run"],
  exits: [exitCodes.someFailed],
  batches: true,
  csv: bulkOrdersCsv,
  args: {
    file: argument("file", "CSV (rows with one external_order_id are one order), or a .json array of the API's items"),
  },
  options: {
    dryRun: flag(
      "--dry-run",
      "check all rows, add up what they take of wallet and stock, at a server by a quote, and stop there",
    ),
    strict: flag("--strict", "send nothing if any row is bad"),
    ...readingOptions,
  },
  async run(context, { file, dryRun, strict, ...reading }) {
    return context.withApi(async (api) => {
      const read = await readBulkOrders(context, api, { file, reading });
      const { orders, rejected, rejectedFile } = read;
      if (rejectedFile !== null) {
        context.warn(`Rows that cannot be used: ${rejected}, in ${rejectedFile}.`);
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

interface Read extends BulkFile {
  /** What a dry run found; null: the orders were sent. */
  planned: Forecast | null;
  /** Orders that Ctrl-C left unsent. */
  left: number;
}

async function outcome(answer: OrderBulkResult, read: Read): Promise<Result> {
  const { someFail, forecastText } = await import("./forecast.ts");
  const { planned, rejected, rejectedFile: rejected_file, reasons, suggestions } = read;
  const failing = planned !== null && someFail(planned);
  const exitCode = read.left > 0 ? exitCodes.interrupted : exitCodeOf(answer, read, failing);
  const file = { rejected, rejected_file, reasons, suggestions };
  const json = { ...answer, ...file, ...(planned === null ? {} : { dry_run: planned }) };
  const text = (sheet: Sheet) => {
    const below = planned === null ? "" : `\n${forecastText(sheet, planned)}`;
    return endedWords(sheet, withFindings(sheet, words(sheet, answer, read) + below, file), exitCode);
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

/** The orders of a file. */
interface BulkFile extends Findings {
  /** Items as POST /orders/bulk takes them. */
  orders: unknown[];
  rejected: number;
  rejectedFile: string | null;
}

/** A file, and how it is read. */
interface Given {
  file: string;
  reading: Reading;
}

interface BulkItem {
  external_order_id: string;
  line_items: { product_id: string; quantity: number }[];
  customer: { email: string; name: string; phone?: string };
}

type Column = (typeof bulkOrdersCsv)["columns"][number];
type Row = CsvRow<Column>;

/** Reads orders from a .json array or from CSV, whose rows with one external_order_id are lines of one order. */
async function readBulkOrders(context: Context, api: Api, given: Given): Promise<BulkFile> {
  return /\.json$/i.test(given.file) ? readJson(given.file) : readCsv(context, api, given);
}

async function readJson(file: string): Promise<BulkFile> {
  const { readJsonArray } = await import("../../bulk/json-array.ts");
  const orders = await readJsonArray(file, "the API's order items");
  return { orders, rejected: 0, rejectedFile: null, reasons: [], suggestions: [] };
}

async function readCsv(context: Context, api: Api, { file, reading }: Given): Promise<BulkFile> {
  const { openCsv } = await import("../../csv/open.ts");
  const csv = await openCsv(file, bulkOrdersCsv, await readingOf(context, reading));
  for (const warning of csv.header.warnings) context.warn(warning);
  for (const note of csv.header.notes) context.note(note);
  try {
    // A few thousand orders at most: their lines may be apart, so all are read before any is sent.
    const byOrder = new Map<string, Row[]>();
    for await (const row of csv) {
      const id = row.values.external_order_id;
      byOrder.set(id, [...(byOrder.get(id) ?? []), row]);
    }
    if (byOrder.size === 0) throw nothingToOrder(file);
    return await sort(api, csv, byOrder);
  } finally {
    await csv.close();
  }
}

/** Good orders become items; an order with a bad row is rejected with all of its rows. */
async function sort(api: Api, csv: CsvFile<Column>, byOrder: Map<string, Row[]>): Promise<BulkFile> {
  const { rejectedFile } = await import("../../csv/rejected.ts");
  const bad = await rejectedFile(csv);
  const products = new Map<string, string | null>();
  const orders: BulkItem[] = [];
  let rejected = 0;
  for (const [id, rows] of byOrder) {
    const clash = customerClash(rows);
    const lines = await Promise.all(rows.map((row) => lineOf(api, row, { products, clash })));
    if (lines.every((line) => "ok" in line)) {
      const line_items = lines.flatMap((line) => ("ok" in line ? [line.ok] : []));
      orders.push({ external_order_id: id, line_items, customer: customerOf(rows) });
      continue;
    }
    for (const [at, row] of rows.entries()) {
      const line = lines[at];
      const reasons = line && "problems" in line ? line.problems : ["another row of this order is bad"];
      await bad.reject(row, reasons);
      rejected++;
    }
  }
  const findings = { reasons: bad.reasons(), suggestions: csv.suggestions() };
  return { orders, rejected, rejectedFile: await bad.close(), ...findings };
}

type Line = { ok: BulkItem["line_items"][number] } | { problems: string[] };

interface LineCheck {
  products: Map<string, string | null>;
  /** Why the order's rows cannot be one order; null: they can. */
  clash: string | null;
}

/** What a spreadsheet makes of a long number: several of them look the same then. */
const SHORTENED = /^\d[.,]\d+E\+\d+$/i;

async function lineOf(api: Api, row: Row, { products, clash }: LineCheck): Promise<Line> {
  const { external_order_id, sku, product_id, quantity, customer_email, customer_name } = row.values;
  const problems = [row.fault, clash].filter((fault) => fault !== null);
  if (external_order_id === "") problems.push("external_order_id is required");
  if (SHORTENED.test(external_order_id)) problems.push("external_order_id was shortened by a spreadsheet");
  if (!/^[1-9]\d{0,4}$/.test(quantity)) problems.push("quantity must be a whole number from 1 to 10000");
  if (!/^[^\s@]+@[^\s@]+$/.test(customer_email)) problems.push("customer_email must be an e-mail address");
  if (customer_name === "") problems.push("customer_name is required");
  const named = product_id || sku;
  const id = named === "" ? null : await known(api, named, products);
  if (id === null) problems.push(named === "" ? "sku or product_id is required" : `no product is called ${named}`);
  return id === null || problems.length > 0 ? { problems } : { ok: { product_id: id, quantity: Number(quantity) } };
}

async function known(api: Api, named: string, products: Map<string, string | null>): Promise<string | null> {
  const found = products.get(named);
  if (found !== undefined) return found;
  const id = await productId(api, named).catch((error: unknown) => {
    if (error instanceof CliError && error.code === "not_found") return null;
    throw error;
  });
  products.set(named, id);
  return id;
}

/** Rows of one external_order_id are one order for one customer. */
function customerClash(rows: readonly Row[]): string | null {
  const names = new Set(
    rows.map(({ values: { customer_email, customer_name, customer_phone } }) =>
      [
        customer_email.toLowerCase(),
        wordsOf(customer_name).toLowerCase(),
        customer_phone.replace(/[^\d+]/g, ""),
      ].join(),
    ),
  );
  if (names.size <= 1) return null;
  return `external_order_id is that of another customer too (${linesWords(rows.map(({ line }) => line).slice(0, 5))})`;
}

function wordsOf(name: string): string {
  return name.normalize("NFC").split(/\s+/).join(" ");
}

/** The customer of an order's first row. */
function customerOf([row]: Row[]): BulkItem["customer"] {
  const { customer_email = "", customer_name = "", customer_phone = "" } = row?.values ?? {};
  return { email: customer_email, name: customer_name, ...(customer_phone === "" ? {} : { phone: customer_phone }) };
}

function nothingToOrder(file: string): CliError {
  return new CliError("bulk_empty", `${file} holds no orders.`, "Give it at least one order; see orders bulk --help.");
}
