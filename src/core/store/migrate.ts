import { createHash } from "node:crypto";
import { fills } from "./fills.ts";
import { evidenceGuards, ledgerBalances, ledgerGuards } from "./guards.ts";
import type { Migration, MigrationTarget } from "./migrations/migration.ts";
import { migrations as postgresMigrations } from "./migrations/postgres.ts";
import { migrations as sqliteMigrations } from "./migrations/sqlite.ts";
import { StoreError } from "./problems.ts";

const HISTORY = "CREATE TABLE IF NOT EXISTS schema_history (name text PRIMARY KEY NOT NULL, digest text NOT NULL)";

/** The engine's migrations, the rules that the schema builder cannot express, and the fills of columns, in order. */
export function migrationsOf(engine: "sqlite" | "postgres"): Migration[] {
  const made = engine === "sqlite" ? sqliteMigrations : postgresMigrations;
  return [...made, ledgerGuards(engine), ...fills, ...evidenceGuards(engine), ledgerBalances(engine)];
}

/**
 * Names what is missing, in order. Refuses a database that is newer than this program or whose history differs from
 * ours, in words.
 */
export async function pendingMigrations(target: MigrationTarget, wanted: Migration[]): Promise<string[]> {
  const done = new Map<string, string>();
  for (const row of await target.rows("SELECT name, digest FROM schema_history")) {
    done.set(String(row.name), String(row.digest));
  }
  const known = new Set(wanted.map((migration) => migration.name));
  const strange = [...done.keys()].filter((name) => !known.has(name));
  if (strange.length > 0) {
    throw new StoreError(
      `The database is newer than this program: it has ${strange.sort().join(", ")}.`,
      "Use the esimctl version that last ran on it, or a newer one.",
    );
  }
  const other = wanted.find((migration) => done.has(migration.name) && done.get(migration.name) !== digest(migration));
  if (other !== undefined) {
    throw new StoreError(
      `The database was made by another build: ${other.name} differs.`,
      "Use the esimctl build that made it, or restore a backup made by this one.",
    );
  }
  return wanted.filter((migration) => !done.has(migration.name)).map((migration) => migration.name);
}

/** Applies what is missing, inside the caller's transaction. Throws as `pendingMigrations` does. */
export async function migrate(target: MigrationTarget, wanted: Migration[]): Promise<string[]> {
  await target.run(HISTORY);
  const pending = await pendingMigrations(target, wanted);
  for (const migration of wanted.filter(({ name }) => pending.includes(name))) {
    for (const statement of migration.statements) await target.run(statement);
    await migration.fill?.(target);
    const { name } = migration;
    await target.run(`INSERT INTO schema_history (name, digest) VALUES ('${name}', '${digest(migration)}')`);
  }
  return pending;
}

function digest(migration: Migration): string {
  return createHash("sha256").update(migration.statements.join("\n")).digest("hex").slice(0, 16);
}
