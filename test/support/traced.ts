import Database from "better-sqlite3";
import { getTableName } from "drizzle-orm";
import { drizzle as drizzleLite } from "drizzle-orm/better-sqlite3";
import { drizzle as drizzlePostgres } from "drizzle-orm/node-postgres";
import { sqliteTables, type TableName } from "../../src/core/store/schema/tables.ts";
import type { Command, Db, Store, Tx } from "../../src/core/store/store.ts";

/** Tables that statements touched. */
export interface Touched {
  read: Set<TableName>;
  written: Set<TableName>;
  /** Written by more than inserting rows. */
  changed: Set<TableName>;
  /** Rows that a statement locked as it read them. */
  locked: Set<TableName>;
}

const namesOf = new Map<string, TableName>(
  // The keys of the tables are their names in the code.
  Object.entries(sqliteTables).map(([name, table]) => [getTableName(table), name as TableName]),
);

/**
 * Runs a command by statements whose tables are added to `touched`; null: it was refused, which is fine. Triggers are
 * not noted.
 */
export async function trace<I, O>(store: Store, command: Command<I, O>, input: I, touched: Touched): Promise<O | null> {
  const texts: string[] = [];
  const logger = { logQuery: (text: string) => void texts.push(text) };
  const over = (tx: Tx): Tx => {
    const client: unknown = Reflect.get(tx.db, "$client");
    // The engine's own driver under a builder that notes; its shape is that of the other engine, see schema/kit.ts.
    const db: unknown =
      client instanceof Database
        ? drizzleLite({ client, logger })
        : drizzlePostgres({ client: client as never, logger });
    const touch = async () => void texts.push(`update "${getTableName(sqliteTables.settings)}"`);
    return { ...tx, db: db as Db, prepared: new Map(), touch };
  };
  const { lane, prefetch } = command;
  const traced: Command<I, O> = Object.assign((tx: Tx, given: I) => command(over(tx), given), {
    ...(lane && { lane }),
    ...(prefetch && { prefetch: prefetch.map((load) => (tx: Tx, inputs: readonly I[]) => load(over(tx), inputs)) }),
  });
  const result = await store.write(traced, input).catch((error: unknown) => {
    if (!(error instanceof Error && error.name === "Problem")) throw error;
    return null;
  });
  for (const text of texts) note(text, touched);
  return result;
}

function note(text: string, { read, written, changed, locked }: Touched): void {
  const target = /^\s*(?:insert into|update|delete from)\s+"(\w+)"/i.exec(text)?.[1];
  if (target !== undefined) written.add(named(target));
  const inserts = /^\s*insert/i.test(text) && !/\bdo update\b/i.test(text);
  if (target !== undefined && !inserts) changed.add(named(target));
  const first = /\bselect\b.*?\bfrom\s+"(\w+)".*\bfor no key update\b/i.exec(text)?.[1];
  if (first !== undefined) locked.add(named(first));
  for (const [, table = ""] of text.matchAll(/\b(?:from|join)\s+"(\w+)"/gi)) read.add(named(table));
}

function named(table: string): TableName {
  const name = namesOf.get(table);
  if (name === undefined) throw new Error(`no such table: ${table}`);
  return name;
}
