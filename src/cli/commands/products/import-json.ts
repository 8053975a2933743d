import type { ProductInput } from "../../../core/catalog/product-input.ts";
import type { Checked } from "../../../core/kernel/checked.ts";
import type { ImportSummary, RowOutcome } from "../../csv/import.ts";
import { productsCsv } from "../../csv/specs.ts";
import type { Context } from "../../frame/command.ts";

/** A JSON array of products, and what becomes of its records. */
interface JsonImport {
  file: string;
  check(record: unknown): Checked<ProductInput>;
  /** Called with the good ones before any is sent. */
  ready(): Promise<void>;
  send(products: ProductInput[]): Promise<readonly RowOutcome[]>;
  dryRun: boolean;
  strict: boolean;
}

const BATCH = 200;

/** Imports a JSON array of products, as the CSV import does; bad records go to `p.rejected.json` beside `p.json`. */
export async function importProductsJson(context: Context, asked: JsonImport): Promise<ImportSummary> {
  const [{ readJsonArray }, { writeRejectedJson }, { tallyReasons }] = await Promise.all([
    import("../../bulk/json-array.ts"),
    import("../../bulk/rejected-json.ts"),
    import("../../csv/reasons.ts"),
  ]);
  const began = performance.now();
  const records = await readJsonArray(asked.file, "objects with the API's names and types");
  const good: ProductInput[] = [];
  const tally = tallyReasons(productsCsv.columns);
  const bad: { index: number; reason: string; record: unknown }[] = [];
  const twice = skusTwice(records);
  for (const [index, record] of records.entries()) {
    const checked = twice.has(skuOf(record)) ? { problems: ["sku is there more than once"] } : asked.check(record);
    if ("ok" in checked) {
      good.push(checked.ok);
    } else {
      bad.push({ index, reason: checked.problems.join("; "), record });
      // A JSON file has no lines: the first record is 1.
      tally.add(index + 1, undefined, checked.problems);
    }
  }
  const rejected_file = await writeRejectedJson(asked.file, bad);
  const stops = asked.dryRun || (asked.strict && bad.length > 0);
  if (!stops && good.length > 0) await asked.ready();
  const outcomes = stops ? [] : await sendAll(context, good, asked.send);
  const count = (wanted: RowOutcome) => outcomes.filter((outcome) => outcome === wanted).length;
  return {
    read: records.length,
    imported: count("imported"),
    updated: count("updated"),
    duplicates: count("duplicate"),
    rejected: bad.length,
    rejected_file,
    reasons: tally.groups(),
    warnings: [],
    suggestions: [],
    seconds: Math.round(performance.now() - began) / 1000,
  };
}

function skuOf(record: unknown): unknown {
  const sku: unknown = typeof record === "object" && record !== null && "sku" in record ? record.sku : undefined;
  return typeof sku === "string" ? sku.trim() : sku;
}

function skusTwice(records: readonly unknown[]): Set<unknown> {
  const seen = new Set<unknown>();
  const skus = records.map(skuOf).filter((sku) => sku !== undefined);
  return new Set(skus.filter((sku) => seen.has(sku) || !seen.add(sku)));
}

async function sendAll(context: Context, products: ProductInput[], send: JsonImport["send"]): Promise<RowOutcome[]> {
  const outcomes: RowOutcome[] = [];
  for (let at = 0; at < products.length && !context.interruption.aborted; at += BATCH) {
    outcomes.push(...(await send(products.slice(at, at + BATCH))));
  }
  return outcomes;
}
