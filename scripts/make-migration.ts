/**
 * Writes the next numbered migration of both engines from the schema in src/core/store/schema, with drizzle-kit, and
 * records the digest of each migration that has none yet, of those written by hand too: `npm run migration -- <name>`.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { digest, migrationsOf } from "../src/core/store/migrations/migrate.ts";
import { postgresTables } from "../src/core/store/schema/postgres-tables.ts";
import { sqliteTables } from "../src/core/store/schema/tables.ts";

// drizzle-kit's API entry is CommonJS only.
const kit: typeof import("drizzle-kit/api") = createRequire(import.meta.url)("drizzle-kit/api");

interface Migration {
  name: string;
  statements: string[];
}

const [name = "change"] = process.argv.slice(2).filter((arg) => !arg.startsWith("--"));
const folder = "src/core/store/migrations";
const snapshots = "drizzle";
const recordFile = "test/released-migrations.json";
const engines = ["sqlite", "postgres"] as const;

// One number for both engines, also where only one of them changes.
const numbers = engines.flatMap((engine) =>
  migrationsOf(engine).map((migration) => Number(migration.name.slice(0, 4))),
);
const next = Math.max(...numbers.filter((number) => number < 9000)) + 1;

/** Writes what the schema has since the snapshot; empty where nothing changed. */
async function make(engine: "sqlite" | "postgres"): Promise<Migration[]> {
  const listFile = `${folder}/${engine}.ts`;
  const snapshotFile = `${snapshots}/${engine}.json`;
  const list: Migration[] = existsSync(listFile) ? (await import(`../${listFile}`)).migrations : [];
  const { statements, snapshot } = await (engine === "sqlite" ? diffSqlite : diffPostgres)(snapshotFile);
  if (statements.length === 0) return [];
  const made = { name: `${String(next).padStart(4, "0")}_${name}`, statements };
  list.push(made);
  mkdirSync(snapshots, { recursive: true });
  writeFileSync(snapshotFile, `${JSON.stringify(snapshot)}\n`);
  writeFileSync(listFile, render(list));
  return [made];
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

/** Adds what is not recorded; what is recorded stays, so that a changed migration fails its test. */
function record(made: Record<(typeof engines)[number], Migration[]>): void {
  const recorded: Record<string, Record<string, string>> = JSON.parse(readFileSync(recordFile, "utf8"));
  for (const engine of engines) {
    const all = [...migrationsOf(engine), ...made[engine]].map((migration) => [migration.name, digest(migration)]);
    recorded[engine] = {
      ...recorded[engine],
      ...Object.fromEntries(all.filter(([name = ""]) => !recorded[engine]?.[name])),
    };
  }
  writeFileSync(recordFile, `${JSON.stringify(recorded, null, 2)}\n`);
}

record({ sqlite: await make("sqlite"), postgres: await make("postgres") });
