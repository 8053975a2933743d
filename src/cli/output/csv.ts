import { stringify } from "csv-stringify/sync";
import { guardCell } from "../../core/csv/formula.ts";
import { formatMoney } from "../../core/kernel/money.ts";
import type { CsvForm } from "../kernel/globals.ts";
import { clean } from "./clean.ts";

/** A program may take another delimiter than ours for one. */
const QUOTING = { quoted_match: /[\r\n;\t]/ };

/** The lines of CSV (RFC 4180) of rows: their fields in the order of the first row, which `header` names above them. */
export function openCsv(
  first: object,
  { bom, decimals }: CsvForm,
): { header: string; draw(rows: readonly object[]): string } {
  const fields = Object.keys(first).flatMap((field) =>
    decimals && CENTS.test(field) ? [field, field.replace(CENTS, "")] : [field],
  );
  return {
    header: `${bom ? "\ufeff" : ""}${stringify([fields])}`,
    draw: (rows) =>
      stringify(
        rows.map((row) => fields.map((field) => cellOf(fieldOf(row, field)))),
        QUOTING,
      ),
  };
}

/** How amounts in minor units are named. */
const CENTS = /_cents$/;

/** A field of the row, or the decimal of the field of that name in minor units. */
function fieldOf(row: object, field: string): unknown {
  if (Object.hasOwn(row, field)) return Reflect.get(row, field);
  const [cents, currency] = [Reflect.get(row, `${field}_cents`), Reflect.get(row, "currency")];
  return typeof cents === "number" && typeof currency === "string" ? formatMoney(cents, currency) : null;
}

/** A cell that a spreadsheet shows and does not run: a list or an object as JSON, nothing for null. */
function cellOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  return guardCell(clean(typeof value === "object" ? JSON.stringify(value) : String(value)));
}
