import { rm } from "node:fs/promises";
import type { ProductInput } from "../../../core/catalog/product-input.ts";
import { counted } from "../../../core/kernel/counted.ts";
import type { Store } from "../../../core/store/store.ts";
import { IMPORT_JSON, importCsv, importResult } from "../../bulk/import-csv.ts";
import { importOptions } from "../../bulk/reading.ts";
import type { Opened } from "../../client/api.ts";
import type { RowOutcome } from "../../csv/import.ts";
import { productsCsv } from "../../csv/specs.ts";
import { type Context, command } from "../../frame/command.ts";
import { exitCodes } from "../../kernel/exit-codes.ts";
import { argument } from "../../kernel/input.ts";
import type { Result } from "../../output/result.ts";
import { OPERATOR } from "../../place/operator.ts";

export default command({
  target: "operator",
  effects: "Creates products, or updates those whose sku is there. Bad rows go to FILE.rejected.csv (or .json).",
  json: IMPORT_JSON,
  examples: [
    "products import catalog.csv",
    "products import catalog.json --dry-run",
    "products import - < catalog.csv",
  ],
  exits: [exitCodes.someFailed],
  batches: true,
  csv: productsCsv,
  args: { file: argument("file", "CSV with a header, a .json array with the API's names, or - for CSV on stdin") },
  options: importOptions,
  async run(context, { file, dryRun, strict, ...reading }) {
    const { importProducts } = await import("../../../core/catalog/import.ts");
    return context.withStore(async ({ store }: Opened) => {
      const send = (products: Parameters<typeof importProducts>[1]["products"]) =>
        store.write(importProducts, { products, actor: OPERATOR });
      const wanted = new Map<string, Set<string>>();
      const seen = ({ sku, supplier }: ProductInput) => {
        if (supplier !== null) wanted.set(supplier, (wanted.get(supplier) ?? new Set()).add(sku));
      };
      if (/\.json$/i.test(file)) {
        const result = await importProductsJson(context, { file, seen, send, dryRun, strict });
        await warnOfSuppliers(context, store, wanted);
        return result;
      }
      const { checkProductRow } = await import("../../bulk/product-row.ts");
      const check = (row: Parameters<typeof checkProductRow>[0]) => {
        const checked = checkProductRow(row);
        if ("ok" in checked) seen(checked.ok);
        return checked;
      };
      const result = await importCsv(context, { file, spec: productsCsv, check, send, dryRun, strict, reading });
      await warnOfSuppliers(context, store, wanted);
      return result;
    });
  },
});

/** Warns of suppliers that a file names and that are not configured: orders for their products are held. */
async function warnOfSuppliers(context: Context, store: Store, wanted: ReadonlyMap<string, Set<string>>) {
  const { listSuppliers } = await import("../../../core/suppliers/supplier.ts");
  const set = new Set((await store.read(listSuppliers, null)).map(({ name }) => name));
  const missing = [...wanted].filter(([name]) => !set.has(name));
  if (missing.length === 0) return;
  const words = missing.map(([name, skus]) => `${name} (${counted(skus.size, "product")})`).join(", ");
  context.warn(`Not set yet: ${counted(missing.length, "supplier")}: ${words}. See esimctl suppliers set --help.`);
}

interface Asked {
  file: string;
  /** Called with each product that can be imported. */
  seen(product: ProductInput): void;
  send(products: ProductInput[]): Promise<readonly RowOutcome[]>;
  dryRun: boolean;
  strict: boolean;
}

const BATCH = 200;

/** Imports a JSON array of products, as the CSV import does; bad records go to `p.rejected.json` beside `p.json`. */
async function importProductsJson(context: Context, asked: Asked): Promise<Result> {
  const [{ readJsonArray }, { checkProductRecord }, { importExitCode }, { tallyReasons }] = await Promise.all([
    import("../../bulk/json-array.ts"),
    import("../../bulk/product-row.ts"),
    import("../../csv/import.ts"),
    import("../../csv/reasons.ts"),
  ]);
  const began = performance.now();
  const records = await readJsonArray(asked.file, "objects with the API's names and types");
  const good: ProductInput[] = [];
  const tally = tallyReasons(productsCsv.columns);
  const bad: { index: number; reason: string; record: unknown }[] = [];
  for (const [index, record] of records.entries()) {
    const checked = checkProductRecord(record);
    if ("ok" in checked) {
      good.push(checked.ok);
      asked.seen(checked.ok);
    } else {
      bad.push({ index, reason: checked.problems.join("; "), record });
      // A JSON file has no lines: the first record is 1.
      tally.add(index + 1, undefined, checked.problems);
    }
  }
  const rejected_file = await writeRejected(asked.file, bad);
  const stops = asked.dryRun || (asked.strict && bad.length > 0);
  const outcomes = stops ? [] : await sendAll(context, good, asked.send);
  const count = (wanted: RowOutcome) => outcomes.filter((outcome) => outcome === wanted).length;
  const summary = {
    read: records.length,
    imported: count("imported"),
    updated: count("updated"),
    duplicates: count("duplicate"),
    rejected: bad.length,
    rejected_file,
    reasons: tally.groups(),
    suggestions: [],
    seconds: Math.round(performance.now() - began) / 1000,
  };
  const exitCode = context.interruption.aborted ? exitCodes.interrupted : importExitCode(summary, asked.dryRun);
  return importResult(summary, exitCode, asked.dryRun);
}

async function sendAll(context: Context, products: ProductInput[], send: Asked["send"]): Promise<RowOutcome[]> {
  const outcomes: RowOutcome[] = [];
  for (let at = 0; at < products.length && !context.interruption.aborted; at += BATCH) {
    outcomes.push(...(await send(products.slice(at, at + BATCH))));
  }
  return outcomes;
}

async function writeRejected(file: string, bad: unknown[]): Promise<string | null> {
  const path = file.replace(/\.json$/i, ".rejected.json");
  await rm(path, { force: true });
  if (bad.length === 0) return null;
  const { piecesOf, writeFileWhole } = await import("../../output/file.ts");
  await writeFileWhole(path, piecesOf(`${JSON.stringify(bad, null, 2)}\n`));
  return path;
}
