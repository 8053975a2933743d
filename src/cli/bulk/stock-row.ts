import { checkStockRow, type StockRow } from "../../core/esims/import-stock.ts";
import type { Checked } from "../csv/import.ts";
import type { CsvRow } from "../csv/open.ts";

/** Checks rows of a stock file; `luhn` false lets wrong check digits pass. */
export function stockRowCheck(options: { luhn: boolean }): (row: Pick<CsvRow, "values">) => Checked<StockRow> {
  return (row) => {
    const checked = checkStockRow(row.values, options);
    return checked.ok ? { ok: checked.row } : { problems: checked.problems };
  };
}
