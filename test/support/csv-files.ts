import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";
import { openCsv } from "../../src/cli/csv/open.ts";
import type { CsvSpec } from "../../src/core/csv/columns.ts";
import { CsvError } from "../../src/core/csv/error.ts";
import type { CsvRow } from "../../src/core/csv/rows.ts";

/** A small file that every test may use. */
export const people = { columns: ["passport_no", "name", "note"], needs: ["passport_no", "name"] } as const;

/** A folder of its own for each test of a file, gone afterwards. */
export function csvFolder() {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "csv-test-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  return {
    path: (...names: string[]) => join(folder, ...names),
    /** Writes a file into the folder and answers its path. */
    file(content: string | Buffer, name = "people.csv"): string {
      const path = join(folder, name);
      writeFileSync(path, content);
      return path;
    },
  };
}

/** All rows of a file. */
export async function readAll<C extends string>(path: string, spec: CsvSpec<C>): Promise<CsvRow<C>[]> {
  const csv = await openCsv(path, spec);
  try {
    const rows: CsvRow<C>[] = [];
    for await (const row of csv) rows.push(row);
    return rows;
  } finally {
    await csv.close();
  }
}

/** The refusal that `work` must end in. */
export async function refusal(work: Promise<unknown>): Promise<CsvError> {
  const fault = await work.then(
    () => null,
    (it: unknown) => it,
  );
  if (!(fault instanceof CsvError)) throw new Error(`not refused: ${String(fault)}`);
  return fault;
}

/** A file of these rows, which hold no commas or quotes; the first one names the columns. */
export function csvOf(rows: readonly Record<string, unknown>[]): string {
  const columns = Object.keys(rows[0] ?? {});
  return [columns, ...rows.map((row) => columns.map((column) => row[column] ?? ""))]
    .map((row) => row.join(","))
    .join("\n");
}
