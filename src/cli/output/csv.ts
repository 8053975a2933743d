import { stringify } from "csv-stringify/sync";
import { guardCell } from "../kernel/formula.ts";
import { clean } from "./clean.ts";

/** A program may take another delimiter than ours for one. */
const QUOTING = { quoted_match: /[\r\n;\t]/ };

/** The lines of CSV (RFC 4180) of rows: their fields in the order of the first row, which `header` names above them. */
export function openCsv(first: object): { header: string; draw(rows: readonly object[]): string } {
  const fields = Object.keys(first);
  return {
    header: stringify([fields]),
    draw: (rows) =>
      stringify(
        rows.map((row) => fields.map((field) => cellOf(Reflect.get(row, field)))),
        QUOTING,
      ),
  };
}

/** A cell that a spreadsheet shows and does not run: a list or an object as JSON, nothing for null. */
function cellOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  return guardCell(clean(typeof value === "object" ? JSON.stringify(value) : String(value)));
}
