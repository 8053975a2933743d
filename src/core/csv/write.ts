import { stringify } from "csv-stringify/sync";
import type { Delimiter } from "./delimiter.ts";
import { guardCell } from "./formula.ts";

/** One line of a file, in which no spreadsheet takes a value for a formula; with a byte-order mark before it. */
export function csvLine({ delimiter }: { delimiter: Delimiter }, fields: readonly string[], bom = false): string {
  return stringify([fields.map(guardCell)], { delimiter, bom, quoted_match: /[\r\n;\t]/ });
}

/** Lines of a file, guarded in the same way, with commas between their values. */
export function csvLines(lines: readonly (readonly string[])[]): string {
  return stringify(
    lines.map((fields) => fields.map(guardCell)),
    { quoted_match: /[\r\n;\t]/ },
  );
}
