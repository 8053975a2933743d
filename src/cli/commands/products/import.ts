import type { PriceChange } from "../../../core/catalog/price-changes.ts";
import type { ProductInput } from "../../../core/catalog/product-input.ts";
import { findClashes, linesWords } from "../../../core/csv/clashes.ts";
import type { CsvRow } from "../../../core/csv/rows.ts";
import type { Checked } from "../../../core/kernel/checked.ts";
import { counted } from "../../../core/kernel/counted.ts";
import type { Store } from "../../../core/store/store.ts";
import { IMPORT_JSON, importCsv, importResult } from "../../bulk/import-csv.ts";
import type { DataUnit } from "../../bulk/product-row.ts";
import { importOptions } from "../../bulk/reading.ts";
import type { Opened } from "../../client/api.ts";
import type { ImportSummary } from "../../csv/import.ts";
import { productsCsv } from "../../csv/specs.ts";
import { type Context, command } from "../../frame/command.ts";
import { exitCodes } from "../../kernel/exit-codes.ts";
import { argument, choice, pairs } from "../../kernel/input.ts";
import type { Result } from "../../output/result.ts";
import type { Sheet } from "../../output/sheet.ts";
import { OPERATOR } from "../../place/operator.ts";

const JSON_KEYS =
  `${IMPORT_JSON.slice(0, -1)}, kept_names, ` +
  "price_changes: [{sku, from_cents, from_currency, to_cents, currency, percent, doubts}]}";

type ProductColumn = (typeof productsCsv)["columns"][number];

export default command({
  target: "operator",
  effects:
    "Creates products, or updates those whose sku is there. Shows prices that change, and asks where one is " +
    "doubtful. Bad rows go to FILE.rejected.csv (or .json).",
  json: JSON_KEYS,
  examples: [
    "products import catalog.csv",
    "products import catalog.json --dry-run",
    "products import plans.csv --set type=data_only --set currency=AUD --unit gb",
    "products import - < catalog.csv",
  ],
  exits: [exitCodes.someFailed],
  batches: true,
  csv: productsCsv,
  args: { file: argument("file", "CSV with a header, a .json array with the API's names, or - for CSV on stdin") },
  options: {
    ...importOptions,
    set: pairs("--set <column=value>", "a value for all rows, where the file has no such column; may be repeated"),
    unit: choice("--unit <unit>", ["mb", "gb"], "the unit of data_amount_mb in the file (1 GB is 1024 MB)"),
  },
  async run(context, { file, dryRun, strict, unit, ...reading }) {
    return context.withStore(async ({ store }: Opened) => {
      const work = await importWork(context, store, { dryRun, unit, set: reading.set });
      const { checkRecord, ...ofRows } = work;
      if (!/\.json$/i.test(file)) {
        return importCsv(context, { file, spec: productsCsv, ...ofRows, dryRun, strict, reading });
      }
      const [{ importProductsJson }, { importExitCode }] = await Promise.all([
        import("./import-json.ts"),
        import("../../csv/import.ts"),
      ]);
      const { ready, send, present } = work;
      const summary = await importProductsJson(context, { file, check: checkRecord, ready, send, dryRun, strict });
      return present(summary, context.interruption.aborted ? exitCodes.interrupted : importExitCode(summary, dryRun));
    });
  },
});

interface Manner {
  dryRun: boolean;
  unit: DataUnit | undefined;
  set: ReadonlyMap<string, string> | undefined;
}

/** How rows and records are checked, what is asked before they are written, and how the end is printed. */
async function importWork(context: Context, store: Store, { dryRun, unit, set }: Manner) {
  const [{ importProducts }, { checkProductRecord, checkProductRow }, { priceChanges }] = await Promise.all([
    import("../../../core/catalog/import.ts"),
    import("../../bulk/product-row.ts"),
    import("../../../core/catalog/price-changes.ts"),
  ]);
  const good = new Map<string, ProductInput>();
  const taken = (checked: Checked<ProductInput>) => {
    if ("ok" in checked) good.set(checked.ok.sku, checked.ok);
    return checked;
  };
  let changes: PriceChange[] = [];
  const twice = findClashes((row: CsvRow<ProductColumn>) => row.values.sku || null);
  return {
    survey: twice.see,
    check(row: CsvRow<ProductColumn>) {
      const lines = twice.linesOf(row);
      const problems = lines === null ? [] : [`sku is on ${linesWords(lines)}`];
      return taken(checkProductRow(row, { unit, problems }));
    },
    checkRecord: (record: unknown) => taken(checkProductRecord(record, { unit, set })),
    async ready() {
      changes = await store.read(priceChanges, [...good.values()]);
      const { confirmPrices } = await import("../../bulk/price-table.ts");
      await confirmPrices(context, changes);
    },
    send: (products: ProductInput[]) => store.write(importProducts, { products, actor: OPERATOR }),
    async present(summary: ImportSummary, exitCode: 0 | 1 | 3 | 130): Promise<Result> {
      await warnOfSuppliers(context, store, good.values());
      if (dryRun) {
        changes = await store.read(priceChanges, [...good.values()]);
        const { showPrices } = await import("../../bulk/price-table.ts");
        await showPrices(context, changes);
      }
      return withKeptNames(importResult(summary, exitCode, dryRun), summary, {
        kept_names: await keptNamesOf(good.values()),
        price_changes: changes,
      });
    },
  };
}

interface Found {
  kept_names: string[];
  price_changes: PriceChange[];
}

function withKeptNames(result: Result, summary: ImportSummary, found: Found): Result {
  const kept = found.kept_names.length === 0 ? "" : `\nkept as a name: ${found.kept_names.join(", ")}`;
  return { ...result, json: { ...summary, ...found }, text: (sheet: Sheet) => `${result.text(sheet)}${kept}` };
}

/** The places of these products' coverage that are no country of ISO's, each once. */
async function keptNamesOf(products: Iterable<ProductInput>): Promise<string[]> {
  const { keptNames } = await import("../../../core/catalog/coverage.ts");
  return [...new Set([...products].flatMap(({ coverage }) => keptNames(coverage)))];
}

/** Warns of suppliers that a file names and that are not configured: orders for their products are held. */
async function warnOfSuppliers(context: Context, store: Store, products: Iterable<ProductInput>): Promise<void> {
  const { listSuppliers } = await import("../../../core/suppliers/supplier.ts");
  const known = new Set((await store.read(listSuppliers, null)).map(({ name }) => name));
  const missing = Map.groupBy(
    [...products].filter(({ supplier }) => supplier !== null && !known.has(supplier)),
    ({ supplier }) => supplier,
  );
  if (missing.size === 0) return;
  const words = [...missing].map(([name, list]) => `${name} (${counted(list.length, "product")})`).join(", ");
  context.warn(`Not set yet: ${counted(missing.size, "supplier")}: ${words}. See esimctl suppliers set --help.`);
}
