import { readJsonArray } from "../../bulk/json-array.ts";
import type { Api } from "../../client/api.ts";
import { productId } from "../../client/product-id.ts";
import { type CsvFile, type CsvRow, openCsv } from "../../csv/open.ts";
import { rejectedFile } from "../../csv/rejected.ts";
import { bulkOrdersCsv } from "../../csv/specs.ts";
import { CliError } from "../../kernel/errors.ts";

/** The orders of a file. */
export interface BulkFile {
  /** Items as POST /orders/bulk takes them. */
  orders: unknown[];
  rejected: number;
  rejectedFile: string | null;
}

interface BulkItem {
  external_order_id: string;
  line_items: { product_id: string; quantity: number }[];
  customer: { email: string; name: string; phone?: string };
}

type Column = (typeof bulkOrdersCsv)["columns"][number];
type Row = CsvRow<Column>;

/** Reads orders from a .json array or from CSV, whose rows with one external_order_id are lines of one order. */
export async function readBulkOrders(api: Api, file: string, signal: AbortSignal): Promise<BulkFile> {
  return /\.json$/i.test(file) ? readJson(file) : readCsv(api, file, signal);
}

async function readJson(file: string): Promise<BulkFile> {
  return { orders: await readJsonArray(file, "the API's order items"), rejected: 0, rejectedFile: null };
}

async function readCsv(api: Api, file: string, signal: AbortSignal): Promise<BulkFile> {
  const csv = await openCsv(file, bulkOrdersCsv, { signal });
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
  const bad = await rejectedFile(csv);
  const products = new Map<string, string | null>();
  const orders: BulkItem[] = [];
  let rejected = 0;
  for (const [id, rows] of byOrder) {
    const lines = await Promise.all(rows.map((row) => lineOf(api, row, products)));
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
  return { orders, rejected, rejectedFile: await bad.close() };
}

type Line = { ok: BulkItem["line_items"][number] } | { problems: string[] };

async function lineOf(api: Api, row: Row, products: Map<string, string | null>): Promise<Line> {
  const { external_order_id, sku, product_id, quantity, customer_email, customer_name } = row.values;
  const problems = row.fault === null ? [] : [row.fault];
  if (external_order_id === "") problems.push("external_order_id is required");
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

/** The customer of an order's first row. */
function customerOf([row]: Row[]): BulkItem["customer"] {
  const { customer_email = "", customer_name = "", customer_phone = "" } = row?.values ?? {};
  return { email: customer_email, name: customer_name, ...(customer_phone === "" ? {} : { phone: customer_phone }) };
}

function nothingToOrder(file: string): CliError {
  return new CliError("bulk_empty", `${file} holds no orders.`, "Give it at least one order; see orders bulk --help.");
}
