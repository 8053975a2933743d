import { execFile } from "node:child_process";
import { createReadStream, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import Database from "better-sqlite3";
import { parse } from "csv-parse";
import { passportsCsv } from "../../src/cli/csv/specs.ts";
import { writePassportFile } from "../support/passport-file.ts";
import { type Bench, compare, type Pace, paceOf, type Scale } from "./bench.ts";

const PEER = "csv-parse + better-sqlite3, in clear, one transaction";
/** Rows for each item of the scale: the program's start is then little of its time. */
const ROWS = 10;
const program = join(import.meta.dirname, "..", "..", "bin", "esimctl");
const run = promisify(execFile);

/** `passports import` of the built terminal, the whole process, against reading and storing the same rows bare. */
export const passportsImport: Bench = async (scale: Scale) => {
  const folder = mkdtempSync(join(tmpdir(), "esimctl-bench-"));
  const fresh = () => mkdtempSync(join(folder, "data-"));
  const fileOf = async (rows: number) => {
    const file = join(folder, `${rows}.csv`);
    await writePassportFile(file, rows);
    return file;
  };
  try {
    return [
      await compare(
        { ...scale, items: scale.items * ROWS },
        {
          what: "passports import FILE.csv, checked, sealed, indexed",
          peer: PEER,
          ours: async (rows) => importByTerminal(await fileOf(rows), fresh(), rows),
          bare: async (rows) => importBare(await fileOf(rows), join(fresh(), "bare.db"), rows),
        },
      ),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

async function importByTerminal(file: string, data: string, rows: number): Promise<Pace> {
  const esimctl = (...args: string[]) => run(process.execPath, [program, ...args, "--data", data, "--json"]);
  await esimctl("init");
  await esimctl("partners", "create", "acme", "--name", "Acme", "--agent");
  let output = "";
  const pace = await paceOf(rows, async () => {
    output = (await esimctl("passports", "import", file, "--partner", "acme", "--sandbox")).stdout;
  });
  const { imported } = JSON.parse(output);
  if (imported !== rows) throw new Error(`${imported} of ${rows} rows were imported`);
  return pace;
}

async function importBare(file: string, path: string, rows: number): Promise<Pace> {
  const database = new Database(path);
  database.pragma("journal_mode = WAL");
  database.pragma("synchronous = FULL");
  const columns = passportsCsv.columns;
  database.exec(`CREATE TABLE passports (id INTEGER PRIMARY KEY, ${columns.map((name) => `${name} TEXT`).join(", ")})`);
  database.exec("CREATE UNIQUE INDEX passports_number ON passports (passport_country, passport_no)");
  const slots = columns.map((name) => `@${name}`).join(", ");
  const insert = database.prepare(`INSERT OR IGNORE INTO passports (${columns.join(", ")}) VALUES (${slots})`);
  const pace = await paceOf(rows, async () => {
    database.exec("BEGIN");
    for await (const row of createReadStream(file).pipe(parse({ columns: true, trim: true }))) insert.run(row);
    database.exec("COMMIT");
  });
  const stored = database.prepare("SELECT count(*) FROM passports").pluck().get();
  database.close();
  if (stored !== rows) throw new Error(`${stored} of ${rows} rows were stored`);
  return pace;
}
