import { stringify } from "csv-stringify/sync";
import type { CsvNeed, CsvSpec } from "./header.ts";
import { sampleValues } from "./names.ts";

const DAY_MS = 86_400_000;

/** The header and one row that a command's file may have; days are counted from `today` (ms). */
export function sampleRow(spec: CsvSpec, today: number): Record<string, string> {
  const spare = new Set(spec.needs.flatMap(alternatives));
  return Object.fromEntries(
    spec.columns.map((column) => {
      const value = spare.has(column) ? "" : (spec.samples?.[column] ?? sampleValues[column] ?? "");
      return [column, /^\+\d{1,5}$/.test(value) ? dayAfter(today, Number(value)) : value];
    }),
  );
}

/** The same as CSV. */
export function sampleCsv(row: Readonly<Record<string, string>>): string {
  return stringify([Object.keys(row), Object.values(row)]).trimEnd();
}

/** Columns that are needed only in place of others. */
function alternatives(need: CsvNeed<string>): string[] {
  return typeof need === "string" ? [] : need.slice(1).flat();
}

function dayAfter(today: number, days: number): string {
  return new Date(today + days * DAY_MS).toISOString().slice(0, 10);
}
