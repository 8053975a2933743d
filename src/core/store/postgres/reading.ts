import { drizzle } from "drizzle-orm/node-postgres";
import pg from "pg";
import type { Engine } from "../engine.ts";
import { migrate, migrationsOf, pendingMigrations } from "../migrations/migrate.ts";
import type { Migration, MigrationTarget } from "../migrations/migration.ts";
import { driftBetween, type Inspection, type Shape } from "../shape.ts";
import type { PostgresAddress } from "./address.ts";
import { connectionOver } from "./dialect.ts";
import { asStoreError } from "./faults.ts";
import { pulseOf } from "./pulse.ts";
import { openSession } from "./session.ts";

/** Where the expected schema is made for a moment; its transaction never commits. */
const SCRATCH = "esimctl_doctor";
const INSUFFICIENT_PRIVILEGE = "42501";

/** Opens a PostgreSQL database for reading: nothing is made or migrated. Throws `StoreError`. */
export async function readPostgres(address: PostgresAddress): Promise<Pick<Engine, "snapshot" | "ping" | "close">> {
  const client = await openSession(address);
  const connection = connectionOver(drizzle(client));
  return {
    async snapshot(run) {
      try {
        await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
        return await run(connection);
      } catch (error) {
        throw asStoreError(error);
      } finally {
        // On a lost connection nothing is left to roll back.
        await client.query("ROLLBACK").catch(() => undefined);
      }
    },
    async ping() {
      try {
        return await pulseOf(client);
      } catch (error) {
        throw asStoreError(error);
      }
    },
    close: () => client.end(),
  };
}

/**
 * Compares the schema with the one that our migrations make: they run in a schema of their own, in a transaction that
 * is taken back. The server looks after damage itself.
 */
export async function inspectPostgres(address: PostgresAddress): Promise<Inspection> {
  const client = await openSession(address);
  try {
    const { rows } = await client.query("SELECT current_schema() AS name");
    const live = String(rows[0]?.name);
    const wanted = migrationsOf("postgres");
    const pending = await pendingMigrations(targetOf(client), wanted);
    const applied = wanted.filter(({ name }) => !pending.includes(name));
    const found = await shapeOf(client, live);
    const expected = await expectedShape(client, live, applied);
    return { damage: [], drift: expected === null ? null : driftBetween(expected, found), pending };
  } catch (error) {
    throw asStoreError(error);
  } finally {
    // Ending the session takes the transaction back.
    await client.end();
  }
}

/** Null when this user may not make a schema. The caller's session ends without a commit. */
async function expectedShape(client: pg.Client, live: string, migrations: Migration[]): Promise<Shape | null> {
  await client.query("BEGIN");
  try {
    await client.query(`CREATE SCHEMA ${SCRATCH}`);
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === INSUFFICIENT_PRIVILEGE) return null;
    throw error;
  }
  await client.query(`SET LOCAL search_path TO ${SCRATCH}`);
  await migrate(targetOf(client, live), migrations);
  return shapeOf(client, SCRATCH);
}

/** Migrations name the schema of their references; in the scratch schema they shall point there too. */
function targetOf(client: pg.Client, live?: string): MigrationTarget {
  const own = (statement: string) =>
    live === undefined ? statement : statement.replaceAll(`"${live}".`, `"${SCRATCH}".`);
  return {
    run: async (statement) => void (await client.query(own(statement))),
    rows: async (statement) => (await client.query(statement)).rows,
  };
}

const SHAPE = `
  SELECT 'column ' || table_name || '.' || column_name AS name,
         concat_ws(' ', data_type, collation_name, is_nullable, column_default) AS words
    FROM information_schema.columns WHERE table_schema = $1
  UNION ALL
  SELECT 'index ' || indexname, indexdef FROM pg_indexes WHERE schemaname = $1
  UNION ALL
  SELECT 'constraint ' || c.relname || '.' || o.conname, pg_get_constraintdef(o.oid)
    FROM pg_constraint o JOIN pg_class c ON c.oid = o.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE n.nspname = $1 AND o.contype <> 'n'
  UNION ALL
  SELECT 'trigger ' || g.tgname, concat_ws(' ', pg_get_triggerdef(g.oid), 'enabled', g.tgenabled)
    FROM pg_trigger g JOIN pg_class c ON c.oid = g.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE n.nspname = $1 AND NOT g.tgisinternal
  UNION ALL
  SELECT DISTINCT 'function ' || p.proname, pg_get_functiondef(p.oid)
    FROM pg_proc p JOIN pg_trigger g ON g.tgfoid = p.oid
    JOIN pg_class c ON c.oid = g.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE n.nspname = $1 AND NOT g.tgisinternal`;

async function shapeOf(client: pg.Client, schema: string): Promise<Shape> {
  const { rows } = await client.query(SHAPE, [schema]);
  return new Map(rows.map((row) => [String(row.name), String(row.words).replaceAll(`${schema}.`, "")]));
}
