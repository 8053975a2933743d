import { and, eq, getTableColumns, getTableName, gt, isNotNull, ne, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { sqliteTables, type TableName, type Tables } from "../schema/tables.ts";
import { type Slots, statement } from "../statement.ts";
import type { Read, Tx } from "../store.ts";
import { type Cell, type SealedColumn, sealedColumns, UnreadableError } from "../vault.ts";

/** A column that holds sealed values, and the key of its table's rows. */
export interface SealedPlace {
  table: TableName;
  column: string;
  key: string;
  /** What its values are bound to, besides their row. */
  name: SealedColumn;
}

/**
 * Every place that holds sealed values: each column named `sealed` or `…_sealed`. So a table joins by the name of its
 * column; it needs a primary key of one text column, and its place in `sealedColumns`.
 */
export const sealedPlaces: readonly SealedPlace[] = Object.entries(sqliteTables).flatMap(([name, table]) => {
  const columns: [string, SQLiteColumn][] = Object.entries(getTableColumns(table));
  return columns
    .filter(([column]) => /(^|_)sealed$/.test(column))
    .map(([column]) => {
      const key = columns.find(([, each]) => each.primary)?.[0];
      if (key === undefined) throw new Error(`${name}.${column} is sealed, but ${name} has no single primary key`);
      const place = sealedColumns.find((one) => one === `${getTableName(table)}.${column}`);
      if (place === undefined) throw new Error(`${name}.${column} is sealed, but no value can be bound to it`);
      return { table: name as TableName, column, key, name: place }; // an entry of the tables
    });
});

function columnsAt(t: Tables, { table, column, key }: SealedPlace): { key: SQLiteColumn; sealed: SQLiteColumn } {
  const columns: Record<string, SQLiteColumn> = getTableColumns(t[table]);
  const found = { key: columns[key], sealed: columns[column] };
  if (found.key === undefined || found.sealed === undefined) throw new Error(`${table} lost a column`);
  return { key: found.key, sealed: found.sealed };
}

/** The id of the key in a sealed value `v2.<uuid>.<body>`, as SQL of either engine. */
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
    /** Rows behind `after`, in key order. */
    page: statement((db, t, slot: Slots<{ after: string; limit: number }>) => {
      const { key, sealed } = columnsAt(t, place);
      return db
        .select({ key, sealed })
        .from(t[place.table])
        .where(and(gt(key, slot.after), isNotNull(sealed)))
        .orderBy(key)
        .limit(slot.limit);
    }),
    /** Rows behind `after`, in key order, that a migration left in clear: as JSON text. */
    clear: statement((db, t, slot: Slots<{ after: string; limit: number }>) => {
      const { key, sealed } = columnsAt(t, place);
      return db
        .select({ key, sealed })
        .from(t[place.table])
        .where(and(gt(key, slot.after), sql`substr(${sealed}, 1, 1) = '{'`))
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

/** What one place holds in clear behind the row `after`, at most `limit` rows. */
export async function clearRows(
  q: Read,
  { place, after, limit }: ResealInput,
): Promise<{ id: string; text: string }[]> {
  return (await at(place).clear(q, { after, limit })).map(({ key, sealed }) => ({
    id: String(key),
    text: String(sealed),
  }));
}

/** Writes a sealed value into its place. */
export async function replaceSealed(tx: Tx, place: SealedPlace, id: string, sealed: string): Promise<void> {
  await at(place).replace(tx, { key: id, sealed });
}

function at(place: SealedPlace) {
  const found = statements.get(place);
  if (found === undefined) throw new Error(`${place.table}.${place.column} is no sealed place`);
  return found;
}

/** Which rows of which place to seal again. */
export interface ResealInput {
  place: SealedPlace;
  after: string;
  limit: number;
}

/** How one batch went. */
export interface ResealedBatch {
  /** The row to go on behind; null: the place is done. */
  next: string | null;
  resealed: number;
  /** Left as they were: they cannot be read. */
  unreadable: number;
}

/**
 * Seals again what one place holds under an old key behind the row `after`, at most `limit` rows. What cannot be read
 * stays as it is.
 */
export function resealBatch(tx: Tx, input: ResealInput): Promise<ResealedBatch> {
  return resealRows(tx, input, (sealed, cell) => tx.vault.open(sealed, cell));
}

/**
 * The same for values of an earlier version, which were bound to no cell. Codes of eSIMs were not sealed at all: the
 * migration put them into their column as the JSON text that is sealed.
 */
export function bindBatch(tx: Tx, input: ResealInput): Promise<ResealedBatch> {
  return resealRows(tx, input, (sealed, cell) => {
    if (cell.column === "esims.sealed" && sealed.startsWith("{")) return sealed;
    try {
      return tx.vault.openUnbound(sealed);
    } catch (error) {
      throw new UnreadableError(cell, error);
    }
  });
}

async function resealRows(
  tx: Tx,
  { place, after, limit }: ResealInput,
  open: (sealed: string, cell: Cell) => string,
): Promise<ResealedBatch> {
  const { stale, replace } = at(place);
  const rows = await stale(tx, { after, current: tx.vault.currentKey(), limit });
  let unreadable = 0;
  for (const row of rows) {
    const [key, sealed] = [String(row.key), String(row.sealed)];
    const cell = { column: place.name, row: key };
    try {
      await replace(tx, { key, sealed: tx.vault.seal(open(sealed, cell), cell) });
    } catch (error) {
      if (!(error instanceof UnreadableError)) throw error;
      unreadable += 1;
    }
  }
  const last = rows.at(-1);
  const next = rows.length < limit || last === undefined ? null : String(last.key);
  return { next, resealed: rows.length - unreadable, unreadable };
}

/** Whether anything, anywhere, is sealed under the key. Reads every sealed column. */
export async function isKeyUsed(q: Read, keyId: string): Promise<boolean> {
  for (const place of sealedPlaces) if ((await at(place).under(q, { keyId })).length > 0) return true;
  return false;
}

const PAGE = 1000;

/** Opens every sealed value in its place; answers those that cannot be read, and how many there are in all. */
export async function tryEverySeal(q: Read): Promise<{ total: number; unreadable: Cell[] }> {
  const unreadable: Cell[] = [];
  let total = 0;
  for (const place of sealedPlaces) {
    let after: string | null = "";
    while (after !== null) {
      const rows: { key: unknown; sealed: unknown }[] = await at(place).page(q, { after, limit: PAGE });
      for (const { key, sealed } of rows) {
        const cell = { column: place.name, row: String(key) };
        if (q.vault.openIfReadable(String(sealed), cell) === null) unreadable.push(cell);
      }
      total += rows.length;
      const last = rows.at(-1);
      after = rows.length < PAGE || last === undefined ? null : String(last.key);
    }
  }
  return { total, unreadable };
}
