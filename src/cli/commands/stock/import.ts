import { IMPORT_JSON, importCsv } from "../../bulk/import-csv.ts";
import { importOptions } from "../../bulk/reading.ts";
import { stockCsv } from "../../csv/specs.ts";
import { command } from "../../frame/command.ts";
import { exitCodes } from "../../kernel/exit-codes.ts";
import { argument, required, text, unless } from "../../kernel/input.ts";
import { OPERATOR } from "../../place/operator.ts";

export default command({
  target: "operator",
  effects: "Adds eSIMs to the product's stock; an ICCID that is there already is a duplicate. Bad rows go to a file.",
  json: IMPORT_JSON,
  examples: ["stock import esims.csv --sku ES-GLB-1GB-7D", "stock import esims.csv --sku ES-GLB-1GB-7D --dry-run"],
  exits: [exitCodes.someFailed],
  batches: true,
  csv: stockCsv,
  args: { file: argument("file", "CSV: iccid, and smdp_address and matching_id or activation_code; - for stdin") },
  options: {
    sku: required(text("--sku <sku>", "the product whose stock it is")),
    luhn: unless("--no-luhn", "let ICCIDs with a wrong check digit pass"),
    ...importOptions,
  },
  async run(context, { file, sku, luhn, dryRun, strict, ...reading }) {
    const [{ checkStockRow, importStock, stockedProduct }] = await Promise.all([
      import("../../../core/esims/import-stock.ts"),
    ]);
    return context.withStore(async ({ store }) => {
      await store.read(stockedProduct, sku);
      return importCsv(context, {
        file,
        spec: stockCsv,
        check: ({ values }) => checkStockRow(values, { luhn }),
        send: (rows) => store.write(importStock, { sku, rows, actor: OPERATOR }),
        dryRun,
        strict,
        reading,
      });
    });
  },
});
