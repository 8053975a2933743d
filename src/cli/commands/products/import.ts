import type { ProductInput } from "../../../core/catalog/product-input.ts";
import { counted } from "../../../core/kernel/counted.ts";
import type { Store } from "../../../core/store/store.ts";
import { IMPORT_JSON, importCsv, importOptions } from "../../bulk/import-csv.ts";
import type { Opened } from "../../client/caller.ts";
import { type Context, command } from "../../frame/command.ts";
import { exitCodes } from "../../kernel/exit-codes.ts";
import { argument } from "../../kernel/input.ts";
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
  args: { file: argument("file", "CSV with a header, a .json array with the API's names, or - for CSV on stdin") },
  options: importOptions,
  async run(context, { file, dryRun, strict }) {
    const { importProducts } = await import("../../../core/catalog/import.ts");
    return context.withStore(async ({ store }: Opened) => {
      const send = (products: Parameters<typeof importProducts>[1]["products"]) =>
        store.write(importProducts, { products, actor: OPERATOR });
      const wanted = new Map<string, Set<string>>();
      const seen = ({ sku, supplier }: ProductInput) => {
        if (supplier !== null) wanted.set(supplier, (wanted.get(supplier) ?? new Set()).add(sku));
      };
      if (/\.json$/i.test(file)) {
        const { importProductsJson } = await import("./json-file.ts");
        const result = await importProductsJson(context, { file, seen, send, dryRun, strict });
        await warnOfSuppliers(context, store, wanted);
        return result;
      }
      const [{ productsCsv }, { checkProductRow }] = await Promise.all([
        import("../../csv/specs.ts"),
        import("../../bulk/product-row.ts"),
      ]);
      const check = (row: Parameters<typeof checkProductRow>[0]) => {
        const checked = checkProductRow(row);
        if ("ok" in checked) seen(checked.ok);
        return checked;
      };
      const result = await importCsv(context, { file, spec: productsCsv, check, send, dryRun, strict });
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
