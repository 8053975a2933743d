/** @module-tag slow */
import { drizzle } from "drizzle-orm/node-postgres";
import type pg from "pg";
import { beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { postgresDialect } from "../../src/core/store/postgres/dialect.ts";
import { openPostgres } from "../../src/core/store/postgres/postgres.ts";
import { postgresTables } from "../../src/core/store/schema/postgres-tables.ts";
import type { Tables } from "../../src/core/store/schema/tables.ts";
import type { Db } from "../../src/core/store/store.ts";
import { importCore, made, nameOf, statementOf, wholeReads } from "../support/core-statements.ts";
import { sessionOn } from "../support/database.ts";
import { startPostgres } from "../support/postgres-server.ts";
import { type Statement, smallTables } from "../support/query-plans.ts";

// Nothing is replaced: each call of `statement` reaches the real one, and is recorded with its source line.
vi.mock("../../src/core/store/statement.ts", async (original) => {
  const { recorded } = await import("../support/core-statements.ts");
  return recorded(await original());
});

beforeAll(importCore);

/** What PostgreSQL alone reads whole, beside `wholeReads`, and the reason why that is acceptable. */
const postgresReads: Record<string, string> = {
  "src/core/alerts/list.ts ended": "reads the end of the index of what is over, as many rows as asked for",
  "src/core/catalog/follow-stock.ts behind": "reads the products that follow their stock, by the index of just them",
  "src/core/credentials/rotate-keys.ts linked": "counts the eSIMs of all orders: the operator asked how many",
  "src/core/esims/expiring.ts expiringIn": "looks at every advanced clock",
};

/** A step of a plan, as much of it as is read here. */
interface Step {
  "Node Type": string;
  "Relation Name"?: string;
  "Index Name"?: string;
  "Index Cond"?: string;
  Plans?: Step[];
}

test("every statement of core uses an index on PostgreSQL", async () => {
  const client = await emptyDatabase();
  // Both engines' tables have the shape of SQLite's, see schema/kit.ts.
  const [db, t] = [drizzle({ client }) as unknown as Db, postgresTables as unknown as Tables];
  const whole = new Set<string>();
  for (const { stack, build } of made) {
    const statement = statementOf({ db, t, dialect: postgresDialect }, build);
    if (readsWhole(await planOf(client, statement))) whole.add(nameOf(stack));
  }
  expect(made.length).toBeGreaterThan(100);
  const known = { ...wholeReads, ...postgresReads };
  expect([...whole].filter((name) => !(name in known))).toEqual([]);
  expect(Object.keys(postgresReads).filter((name) => !whole.has(name))).toEqual([]);
});

test("a statement without an index is found", async () => {
  const client = await emptyDatabase();
  const found = async (sql: string) => readsWhole(await planOf(client, { sql, parameters: 1 }));
  expect(await found("SELECT * FROM orders WHERE metadata::text = $1")).toBe(true);
  expect(await found("SELECT * FROM orders WHERE id = $1")).toBe(false);
  // Each key of a list is looked up by itself; as a join PostgreSQL may read the table.
  const listed = "FROM json_array_elements_text($1::json) AS listed(id)";
  const of = "SELECT id FROM orders WHERE orders.id = listed.id";
  expect(await found(`SELECT o.id ${listed} CROSS JOIN LATERAL (${of} LIMIT 1) o`)).toBe(false);
  expect(await found(`SELECT o.id ${listed} CROSS JOIN LATERAL (${of}) o`)).toBe(true);
});

/** A connection to a database with the current schema. It reads a table whole only where no index serves. */
async function emptyDatabase(): Promise<pg.Client> {
  const server = await startPostgres();
  onTestFinished(() => server.remove());
  await (await openPostgres({ url: server.url })).close();
  const client = await sessionOn(server.url);
  await client.query("SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan");
  return client;
}

/** What PostgreSQL would do for a statement with any values. */
async function planOf(client: pg.Client, { sql, parameters }: Statement): Promise<Step[]> {
  await client.query(`PREPARE asked AS ${sql}`);
  const values = parameters === 0 ? "" : `(${Array.from({ length: parameters }, () => "NULL").join(", ")})`;
  const { rows } = await client.query(`EXPLAIN (FORMAT JSON) EXECUTE asked${values}`);
  await client.query("DEALLOCATE asked");
  // Documented: one row with one column, a list of one plan.
  const [[{ Plan: first }]] = rows.map((row) => row["QUERY PLAN"]) as [[{ Plan: Step }]];
  return stepsOf(first);
}

function stepsOf(step: Step): Step[] {
  return [step, ...(step.Plans ?? []).flatMap(stepsOf)];
}

/** Whether any step reads a table or an index from end to end that grows with the work done. */
function readsWhole(steps: Step[]): boolean {
  return steps.some(({ "Node Type": type, "Relation Name": table, "Index Cond": condition }) => {
    if (table !== undefined && smallTables.includes(table)) return false;
    return type === "Seq Scan" || (/Index/.test(type) && condition === undefined);
  });
}
