import { createHash } from "node:crypto";
import { StoreError } from "../problems.ts";
import { fills } from "./fills.ts";
import type { Migration, MigrationTarget } from "./migration.ts";
import { migrations as postgresMigrations } from "./postgres.ts";
import { migrations as sqliteMigrations } from "./sqlite.ts";
import { triggers as postgresTriggers } from "./triggers-postgres.ts";
import { triggers as sqliteTriggers } from "./triggers-sqlite.ts";

const HISTORY = "CREATE TABLE IF NOT EXISTS schema_history (name text PRIMARY KEY NOT NULL, digest text NOT NULL)";

/**
 * The engine's migrations in order: those made from the schema, then, by number, the triggers that the schema builder
 * cannot express and the fills of columns.
 */
export function migrationsOf(engine: "sqlite" | "postgres"): Migration[] {
  const [made, triggers] =
    engine === "sqlite" ? [sqliteMigrations, sqliteTriggers] : [postgresMigrations, postgresTriggers];
  const byHand = [...triggers, ...fills].sort((one, other) => (one.name < other.name ? -1 : 1));
  return [...made, ...byHand];
}

/** In the history, before the digest of a migration beside which a program works that does not know it. */
const EXPANDS = "expand:";

/**
 * Names what is missing, in order. Refuses, in words, a database that is newer than this program by more than what was
 * added, or whose history differs from ours.
 */
export async function pendingMigrations(target: MigrationTarget, wanted: Migration[]): Promise<string[]> {
  const done = new Map<string, string>();
  for (const row of await target.rows("SELECT name, digest FROM schema_history")) {
    done.set(String(row.name), String(row.digest));
  }
  const known = new Set(wanted.map((migration) => migration.name));
  const strange = [...done].flatMap(([name, mark]) => (known.has(name) || mark.startsWith(EXPANDS) ? [] : [name]));
  if (strange.length > 0) {
    throw new StoreError(
      `The database is newer than this program: it has ${strange.sort().join(", ")}.`,
      "Use the esimctl version that last ran on it, or a newer one.",
    );
  }
  const other = wanted.find((migration) => {
    const mark = done.get(migration.name);
    return mark !== undefined && mark.replace(EXPANDS, "") !== digest(migration);
  });
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
    await target.run(`INSERT INTO schema_history (name, digest) VALUES ('${name}', '${markOf(migration)}')`);
  }
  return pending;
}

/** What the history records of a migration: for programs that know it, and for earlier ones that do not. */
function markOf(migration: Migration): string {
  return `${expands(migration) ? EXPANDS : ""}${digest(migration)}`;
}

const CREATE_TABLE = /^CREATE TABLE (?:IF NOT EXISTS )?(\S+)/i;
const ALTER_TABLE = /^ALTER TABLE (\S+) (?!ADD CONSTRAINT \S+ FOREIGN KEY\b)/i;
const ADD_COLUMN = /^ALTER TABLE \S+ ADD (?:COLUMN )?(?!CONSTRAINT\b|CHECK\b|UNIQUE\b)/i;

/**
 * Whether a migration only adds: tables, indexes that refuse no row, columns that an earlier program need not fill.
 * Then nodes of the release before it keep working, and may start again, beside the new schema.
 */
export function expands({ statements, fill }: Pick<Migration, "statements" | "fill">): boolean {
  const made = new Set(statements.flatMap((text) => CREATE_TABLE.exec(text)?.[1] ?? []));
  const concernsNew = (text: string) =>
    made.has(/^ALTER TABLE (\S+)|\bON (\S+)/i.exec(text)?.slice(1).find(Boolean) ?? "");
  const adds = (text: string) => {
    if (CREATE_TABLE.test(text) || /^CREATE INDEX\b/i.test(text)) return true;
    if (/^(CREATE UNIQUE INDEX|ALTER TABLE \S+ ADD)\b/i.test(text) && concernsNew(text)) return true;
    return ADD_COLUMN.test(text) && (!/\bNOT NULL\b/i.test(text) || /\bDEFAULT\b/i.test(text));
  };
  return fill === undefined && statements.every(adds);
}

/** The tables that migrations alter, which needs a lock that no reader holds; foreign keys need less. */
export function alteredTables(pending: readonly Pick<Migration, "statements">[]): string[] {
  const statements = pending.flatMap((migration) => migration.statements);
  const altered = statements.flatMap((text) => ALTER_TABLE.exec(text)?.[1] ?? []);
  return [...new Set(altered)];
}

/** The fingerprint by which a history recognizes a migration; it covers the statements alone. */
export function digest(migration: Migration): string {
  return createHash("sha256").update(migration.statements.join("\n")).digest("hex").slice(0, 16);
}
