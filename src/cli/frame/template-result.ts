import { stringify } from "csv-stringify/sync";
import type { CsvNeed, CsvSpec } from "../../core/csv/columns.ts";
import { sampleValues } from "../../core/csv/names.ts";
import { systemClock } from "../../core/kernel/clock.ts";
import type { Result } from "../output/result.ts";

/** What `--template` prints: a header and one made-up row, which the command takes as they are. */
export function templateResult(spec: CsvSpec): Result {
  const row = sampleRow(spec, systemClock.now());
  return { json: { columns: spec.columns, needs: spec.needs, example: row }, text: () => sampleCsv(row) };
}

const DAY_MS = 86_400_000;

/** The header and one row that a command's file may have; days are counted from `today` (ms). */
function sampleRow(spec: CsvSpec, today: number): Record<string, string> {
  const spare = new Set(spec.needs.flatMap(alternatives));
  return Object.fromEntries(
    spec.columns.map((column) => {
      const value = spare.has(column) ? "" : (spec.samples?.[column] ?? sampleValues[column] ?? "");
      return [column, /^\+\d{1,5}$/.test(value) ? dayAfter(today, Number(value)) : value];
    }),
  );
}

/** The same as CSV. */
function sampleCsv(row: Readonly<Record<string, string>>): string {
  return stringify([Object.keys(row), Object.values(row)]).trimEnd();
}

/** Columns that are needed only in place of others. */
function alternatives(need: CsvNeed<string>): string[] {
  return typeof need === "string" ? [] : need.slice(1).flat();
}

function dayAfter(today: number, days: number): string {
  return new Date(today + days * DAY_MS).toISOString().slice(0, 10);
}
