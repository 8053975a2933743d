import { and, eq, getTableColumns, gt, ne, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { sqliteTables, type TableName, type Tables } from "./schema/tables.ts";
import { type Slots, statement } from "./statement.ts";
import type { Read, Tx } from "./store.ts";

/** A column that holds sealed text, and the key of its table's rows. */
export interface SealedPlace {
  table: TableName;
  column: string;
  key: string;
}

/**
 * Every place that holds sealed text: each column named `sealed` or `…_sealed`. So a table joins by the name of its
 * column; it needs a primary key of one text column.
 */
export const sealedPlaces: readonly SealedPlace[] = Object.entries(sqliteTables).flatMap(([name, table]) => {
  const columns: [string, SQLiteColumn][] = Object.entries(getTableColumns(table));
  return columns
    .filter(([column]) => /(^|_)sealed$/.test(column))
    .map(([column]) => {
      const key = columns.find(([, each]) => each.primary)?.[0];
      if (key === undefined) throw new Error(`${name}.${column} is sealed, but ${name} has no single primary key`);
      return { table: name as TableName, column, key }; // an entry of the tables
    });
});

function columnsAt(t: Tables, { table, column, key }: SealedPlace): { key: SQLiteColumn; sealed: SQLiteColumn } {
  const columns: Record<string, SQLiteColumn> = getTableColumns(t[table]);
  const found = { key: columns[key], sealed: columns[column] };
  if (found.key === undefined || found.sealed === undefined) throw new Error(`${table} lost a column`);
  return { key: found.key, sealed: found.sealed };
}

/** The id of the key in sealed text `v1.<uuid>.<body>`, as SQL of either engine. */
function keyIdOf(sealed: SQLiteColumn) {
  return sql<string>`substr(${sealed}, 4, 36)`;
}

function statementsOf(place: SealedPlace) {
  return {
    /** Rows behind `after`, in key order, that are sealed under another key than the current one. */
    stale: statement((db, t, slot: Slots<{ after: string; current: string; limit: number }>) => {
      const { key, sealed } = columnsAt(t, place);
      return db
        .select({ key, sealed })
        .from(t[place.table])
        .where(and(gt(key, slot.after), ne(keyIdOf(sealed), slot.current)))
        .orderBy(key)
        .limit(slot.limit);
    }),
    replace: statement((db, t, slot: Slots<{ key: string; sealed: string }>) =>
      db
        .update(t[place.table])
        .set({ [place.column]: slot.sealed })
        .where(eq(columnsAt(t, place).key, slot.key)),
    ),
    under: statement((db, t, slot: Slots<{ keyId: string }>) => {
      const { key, sealed } = columnsAt(t, place);
      return db
        .select({ key })
        .from(t[place.table])
        .where(eq(keyIdOf(sealed), slot.keyId))
        .limit(1);
    }),
  };
}

const statements = new Map(sealedPlaces.map((place) => [place, statementsOf(place)]));

function at(place: SealedPlace) {
  const found = statements.get(place);
  if (found === undefined) throw new Error(`${place.table}.${place.column} is no sealed place`);
  return found;
}

/**
 * Seals again what one place holds under an old key behind the row `after`, at most `limit` rows. Answers the row to
 * go on behind (null: the place is done) and how many rows it sealed.
 */
export async function resealBatch(
  tx: Tx,
  input: { place: SealedPlace; after: string; limit: number },
): Promise<{ next: string | null; resealed: number }> {
  const { stale, replace } = at(input.place);
  const current = tx.vault.currentKey();
  const rows = await stale(tx, { after: input.after, current, limit: input.limit });
  for (const row of rows) {
    const [key, sealed] = [String(row.key), String(row.sealed)];
    await replace(tx, { key, sealed: tx.vault.seal(tx.vault.open(sealed)) });
  }
  const last = rows.at(-1);
  return { next: rows.length < input.limit || last === undefined ? null : String(last.key), resealed: rows.length };
}

/** Whether anything, anywhere, is sealed under the key. Reads every sealed column. */
export async function isKeyUsed(q: Read, keyId: string): Promise<boolean> {
  for (const place of sealedPlaces) if ((await at(place).under(q, { keyId })).length > 0) return true;
  return false;
}
