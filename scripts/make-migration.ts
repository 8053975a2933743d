/**
 * Writes the next numbered migration of both engines from the schema in src/core/store/schema, with drizzle-kit.
 * `npm run migration -- <name>`; `--restart` discards the history and makes 0001 again (only before a release).
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { postgresTables } from "../src/core/store/schema/postgres-tables.ts";
import { sqliteTables } from "../src/core/store/schema/tables.ts";

// drizzle-kit's API entry is CommonJS only.
const kit: typeof import("drizzle-kit/api") = createRequire(import.meta.url)("drizzle-kit/api");

interface Migration {
  name: string;
  statements: string[];
}

const [name = "change"] = process.argv.slice(2).filter((arg) => !arg.startsWith("--"));
const restart = process.argv.includes("--restart");
const folder = "src/core/store/migrations";
const snapshots = "drizzle";

async function make(engine: "sqlite" | "postgres"): Promise<void> {
  const listFile = `${folder}/${engine}.ts`;
  const snapshotFile = `${snapshots}/${engine}.json`;
  if (restart) for (const file of [listFile, snapshotFile]) rmSync(file, { force: true });
  const list: Migration[] = existsSync(listFile) ? (await import(`../${listFile}`)).migrations : [];
  const { statements, snapshot } = await (engine === "sqlite" ? diffSqlite : diffPostgres)(snapshotFile);
  if (statements.length === 0) return;
  const number = String(list.length + 1).padStart(4, "0");
  list.push({ name: `${number}_${name}`, statements });
  mkdirSync(snapshots, { recursive: true });
  writeFileSync(snapshotFile, `${JSON.stringify(snapshot)}\n`);
  writeFileSync(listFile, render(list));
}

function previous(file: string): unknown {
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
}

async function diffSqlite(file: string) {
  const snapshot = await kit.generateSQLiteDrizzleJson({ ...sqliteTables });
  const before = previous(file) ?? (await kit.generateSQLiteDrizzleJson({}));
  // The snapshot was written by this same function.
  return { snapshot, statements: await kit.generateSQLiteMigration(before as typeof snapshot, snapshot) };
}

async function diffPostgres(file: string) {
  const snapshot = kit.generateDrizzleJson({ ...postgresTables });
  const before = previous(file) ?? kit.generateDrizzleJson({});
  // The snapshot was written by this same function.
  return { snapshot, statements: await kit.generateMigration(before as typeof snapshot, snapshot) };
}

function render(list: Migration[]): string {
  return `// Made by \`npm run migration\`; a migration that was released is never changed.
import type { Migration } from "./migration.ts";

export const migrations: Migration[] = ${JSON.stringify(list, null, 2)};
`;
}

await make("sqlite");
await make("postgres");
