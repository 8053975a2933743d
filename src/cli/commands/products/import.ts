import { IMPORT_JSON, importCsv, importOptions } from "../../bulk.ts";
import { command } from "../../command.ts";
import { OPERATOR, type Opened } from "../../context.ts";
import { exitCodes } from "../../exit-codes.ts";
import { argument } from "../../input.ts";

export const importProductsFile = command({
  name: "import",
  summary: "create and update products from CSV or JSON",
  stand: "operator",
  effects: "Creates products, or updates those whose sku is there. Bad rows go to FILE.rejected.csv (or .json).",
  json: IMPORT_JSON,
  examples: [
    "products import catalog.csv",
    "products import catalog.json --dry-run",
    "products import - < catalog.csv",
  ],
  exits: [exitCodes.someFailed],
  batches: true,
  args: { file: argument("file", "CSV with a header, a .json array with the API's names, or - for CSV on stdin") },
  options: importOptions,
  async run(context, { file, dryRun, strict }) {
    const { importProducts } = await import("../../../core/catalog/import.ts");
    return context.withStore(async ({ store }: Opened) => {
      const send = (products: Parameters<typeof importProducts>[1]["products"]) =>
        store.write(importProducts, { products, actor: OPERATOR });
      if (/\.json$/i.test(file)) {
        const { importProductsJson } = await import("./json-file.ts");
        return importProductsJson(context, { file, send, dryRun, strict });
      }
      const [{ productsCsv }, { checkProductRow }] = await Promise.all([
        import("../../csv/specs.ts"),
        import("./row.ts"),
      ]);
      return importCsv(context, { file, spec: productsCsv, check: checkProductRow, send, dryRun, strict });
    });
  },
});
