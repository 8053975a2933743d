import { linesWords } from "../../../core/csv/clashes.ts";
import type { CsvRow } from "../../../core/csv/rows.ts";
import { readingOf } from "../../bulk/reading.ts";
import type { Api } from "../../client/api.ts";
import { productId } from "../../client/product-id.ts";
import type { CsvFile } from "../../csv/open.ts";
import { bulkOrdersCsv } from "../../csv/specs.ts";
import type { Context } from "../../frame/command.ts";
import { CliError } from "../../kernel/errors.ts";
import type { BulkFile, Given } from "./bulk-file.ts";

interface BulkItem {
  external_order_id: string;
  line_items: { product_id: string; quantity: number }[];
  customer: { email: string; name: string; phone?: string };
}

type Column = (typeof bulkOrdersCsv)["columns"][number];
type Row = CsvRow<Column>;

/** Reads orders from CSV, whose rows with one external_order_id are lines of one order. */
export async function readCsvOrders(context: Context, api: Api, given: Given): Promise<BulkFile> {
  const { file, reading, stdin } = given;
  const { openCsv } = await import("../../csv/open.ts");
  const options = await readingOf(context, reading);
  const csv = await openCsv(file, bulkOrdersCsv, stdin === undefined ? options : { ...options, stdin });
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
  return { orders, rejected, rejectedFile: await bad.close(), what: "Rows", named: [], ...findings };
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
