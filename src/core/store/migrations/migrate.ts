import { createHash } from "node:crypto";
import { StoreError } from "../problems.ts";
import { literal } from "./fill-chains.ts";
import type { Migration, MigrationTarget } from "./migration.ts";
import { migrations as postgresMigrations } from "./postgres.ts";
import { migrations as sqliteMigrations } from "./sqlite.ts";
import { postgresTriggers, sqliteTriggers } from "./triggers.ts";

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

/**
 * Migrations that compute new columns for rows from before those columns. They follow the schema's migrations, so that
 * the list which `npm run migration` writes holds nothing that a person must add to it.
 */
const fills: Migration[] = [
  {
    name: "9001_order_refunds",
    statements: [
      `UPDATE orders SET refunded_cents = (
        SELECT coalesce(sum(amount_cents), 0) FROM ledger_transactions
        WHERE ledger_transactions.order_id = orders.id AND ledger_transactions.kind = 'refund'
      ) WHERE id IN (SELECT order_id FROM ledger_transactions WHERE kind = 'refund')`,
    ],
  },
  { name: "9002_product_keys", statements: [], fill: fillProductKeys },
  {
    name: "9003_order_line_owners",
    statements: [
      `UPDATE order_lines SET partner_id = orders.partner_id, environment = orders.environment,
        created_at = orders.created_at FROM orders WHERE orders.id = order_lines.order_id`,
    ],
  },
  {
    // Sandbox orders on their way begin again: their eSIMs, which were visible to no one, are computed from now on.
    name: "9004_sandbox_units",
    statements: [
      `DELETE FROM esims WHERE environment = 'sandbox'
        AND order_id IN (SELECT id FROM orders WHERE status = 'pending_payment')`,
      `UPDATE order_lines SET assigned = 0 WHERE environment = 'sandbox'
        AND order_id IN (SELECT id FROM orders WHERE status = 'pending_payment')`,
      `UPDATE orders SET first_unit = numbered.first_unit FROM (
        SELECT id, sum(quantity) OVER (ORDER BY id) - quantity AS first_unit FROM orders
        WHERE environment = 'sandbox' AND status = 'pending_payment'
      ) AS numbered WHERE numbered.id = orders.id`,
      `INSERT INTO settings (key, value)
        SELECT 'sandbox_units', cast(sum(quantity) AS text) FROM orders
        WHERE environment = 'sandbox' AND status = 'pending_payment' HAVING count(*) > 0`,
    ],
  },
  {
    name: "9008_event_feed",
    statements: [
      `UPDATE events SET feed_no = numbered.feed_no FROM (
        SELECT id, row_number() OVER (PARTITION BY partner_id, environment ORDER BY id) AS feed_no FROM events
      ) AS numbered WHERE numbered.id = events.id`,
      `INSERT INTO event_feeds (partner_id, environment, last_no, dropped_no)
        SELECT partner_id, environment, max(feed_no), 0 FROM events GROUP BY partner_id, environment`,
    ],
  },
  {
    name: "9009_sandbox_notices",
    statements: [
      `UPDATE sandbox_clocks SET notices_through = cast(settings.value AS bigint) FROM settings
        WHERE settings.key = 'esim_notices_through:' || sandbox_clocks.partner_id`,
      "DELETE FROM settings WHERE key LIKE 'esim_notices_through:%'",
    ],
  },
  {
    name: "9013_line_refunds",
    statements: [
      `UPDATE order_lines SET refunded_cents = unit_price_cents * CASE WHEN status IN ('cancelled', 'failed')
        THEN quantity ELSE (SELECT coalesce(sum(order_items.quantity), 0) FROM order_items
          WHERE order_items.line_id = order_lines.id AND order_items.status IN ('cancelled', 'failed')) END
        WHERE order_id IN (SELECT id FROM orders WHERE refunded_cents > 0)`,
    ],
  },
];

async function fillProductKeys(target: MigrationTarget): Promise<void> {
  const products = await target.rows("SELECT id, region, coverage FROM products");
  if (products.length === 0) return;
  // Loaded where there is something to fill: every start of the program comes through here.
  const { coverageKey } = await import("../../kernel/country.ts");
  const { regionKey } = await import("../../kernel/search-keys.ts");
  for (const { id, region, coverage } of products) {
    // The column holds the list as the schema's json() wrote it.
    const places = JSON.parse(String(coverage)) as string[];
    const keys = `region_key = ${literal(regionKey(String(region)))}, coverage_key = ${literal(coverageKey(places))}`;
    await target.run(`UPDATE products SET ${keys} WHERE id = ${literal(String(id))}`);
  }
}
