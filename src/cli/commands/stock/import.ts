import { findClashes, linesWords } from "../../../core/csv/clashes.ts";
import type { CsvRow } from "../../../core/csv/rows.ts";
import { endsInZeros, ZEROS } from "../../../core/kernel/iccid.ts";
import { IMPORT_JSON, importCsv } from "../../bulk/import-csv.ts";
import { importOptions } from "../../bulk/reading.ts";
import { DRAGGED, findDragged } from "../../csv/dragged.ts";
import { stockCsv } from "../../csv/specs.ts";
import { command } from "../../frame/command.ts";
import { usageError } from "../../kernel/errors.ts";
import { exitCodes } from "../../kernel/exit-codes.ts";
import { argument, decimal, required, text, unless } from "../../kernel/input.ts";
import { OPERATOR } from "../../place/operator.ts";

type Row = CsvRow<(typeof stockCsv)["columns"][number]>;

/** Rows that end in zeros, and of how many one at least, before a file counts as rounded. */
const LEAST_ROUNDED = 2;
const ROUNDED_SHARE = 20;

/** What rows of a stock file say of each other: one eSIM has one code, and one code is of one eSIM. */
function stockClashes() {
  const codeOf = ({ values }: Row) =>
    [values.activation_code, values.smdp_address, values.matching_id, values.confirmation_code].join(" ").toLowerCase();
  const ofIccid = findClashes<Row>(({ values }) => values.iccid || null, codeOf);
  const ofCode = findClashes<Row>(
    (row) => (row.values.activation_code + row.values.matching_id === "" ? null : codeOf(row)),
    ({ values }) => values.iccid,
  );
  const dragged = findDragged<Row>(({ values }) => values.iccid);
  const all = [ofIccid, ofCode, dragged];
  let rows = 0;
  let zeros = 0;
  // One alone is chance; a file that a spreadsheet saved is full of them.
  const isRounded = () => zeros >= LEAST_ROUNDED && zeros * ROUNDED_SHARE >= rows;
  return {
    see(row: Row): void {
      for (const one of all) one.see(row);
      rows += 1;
      if (endsInZeros(row.values.iccid)) zeros += 1;
    },
    problems(row: Row, luhn: boolean): string[] {
      const [iccid, code] = [ofIccid.linesOf(row), ofCode.linesOf(row)];
      const column = row.values.activation_code === "" ? "matching_id" : "activation_code";
      return [
        ...(iccid === null ? [] : [`iccid has different codes on ${linesWords(iccid)}`]),
        ...(code === null ? [] : [`${column} is that of several ICCIDs, on ${linesWords(code)}`]),
        ...(luhn && endsInZeros(row.values.iccid) && isRounded() ? [`iccid ${ZEROS} (--no-luhn lets it pass)`] : []),
        ...(luhn && dragged.has(row) ? [`iccid ${DRAGGED} (--no-luhn lets it pass)`] : []),
      ];
    },
  };
}

export default command({
  target: "operator",
  effects:
    "Adds eSIMs to the product's stock; an ICCID that is there already with the same codes is a duplicate. Bad rows " +
    "go to a file.",
  json: IMPORT_JSON,
  examples: [
    "stock import esims.csv --sku ES-GLB-1GB-7D --cost 1.20",
    "stock import esims.csv --sku ES-GLB-1GB-7D --dry-run",
  ],
  exits: [exitCodes.someFailed],
  batches: true,
  csv: stockCsv,
  args: { file: argument("file", "CSV: iccid, and smdp_address and matching_id or activation_code; - for stdin") },
  options: {
    sku: required(text("--sku <sku>", "the product whose stock it is")),
    luhn: unless("--no-luhn", "let ICCIDs pass that have a wrong check digit or look spoiled by a spreadsheet"),
    cost: decimal("--cost <amount>", "what each of these eSIMs cost, e.g. 1.20 (default: as the product says)"),
    costCurrency: text("--cost-currency <code>", "of the cost: ISO 4217 (default: the product's)"),
    ...importOptions,
  },
  async run(context, { file, sku, luhn, cost: typed, costCurrency, dryRun, strict, ...reading }) {
    const [{ checkStockRow, importStock, stockedProduct }, { parseCost }] = await Promise.all([
      import("../../../core/esims/import-stock.ts"),
      import("../../../core/kernel/cost.ts"),
    ]);
    if (typed === undefined && costCurrency !== undefined) {
      throw usageError("--cost-currency goes with --cost.", "Add --cost, or leave it out.");
    }
    const currency = costCurrency?.toUpperCase() ?? null;
    const cost = typed === undefined ? null : { cost: parseCost(typed), currency };
    return context.withStore(async ({ store }) => {
      await store.read(stockedProduct, sku);
      const clashes = stockClashes();
      return importCsv(context, {
        file,
        spec: stockCsv,
        survey: clashes.see,
        check(row) {
          const checked = checkStockRow(row.values, { luhn });
          const found = clashes.problems(row, luhn);
          if (found.length === 0) return checked;
          return { problems: [...("problems" in checked ? checked.problems : []), ...found] };
        },
        send: (rows) => store.write(importStock, { sku, rows, cost, actor: OPERATOR }),
        dryRun,
        strict,
        reading,
      });
    });
  },
});
