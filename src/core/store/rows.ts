import { and, Column, eq, is, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { type Row, sqliteTables, type TableName, type Tables } from "./schema/tables.ts";
import { type Preparable, prepareOn } from "./statement.ts";
import type { Prepared, Read, Tx } from "./store.ts";

/** A table's row to be inserted: columns that may be null can be left out. */
export type NewRow<N extends TableName> = Tables[N]["$inferInsert"];

/** Primary keys of tables that have no `id`. */
interface NamedKeys {
  carriers: "prefix";
  credentials: "client_id";
  signingKeys: "kid";
  stockPools: "product_id";
  suppliers: "name";
}

/** The primary key of a table whose rows are read and changed one by one. */
export type KeyOf<N extends TableName> = N extends keyof NamedKeys
  ? Pick<Row<N>, NamedKeys[N] & keyof Row<N>>
  : "id" extends keyof Row<N>
    ? Pick<Row<N>, "id">
    : never;

type Values = Record<string, unknown>;

/** One object per shape of statement, since prepared statements are kept by the identity of what made them. */
const shapes = new Map<string, object>();

function preparedShape(q: Read, shape: string, make: () => unknown): Prepared {
  const known = shapes.get(shape) ?? {};
  shapes.set(shape, known);
  // Whichever engine's builder made it, it can be prepared; the shared types cannot say so for a table named by value.
  return prepareOn(q, known, () => make() as Preparable<unknown>);
}

const columnNames = new Map<TableName, string[]>();

function columnsOf(tx: Tx, table: TableName): string[] {
  const known = columnNames.get(table);
  if (known !== undefined) return known;
  const columns = Object.keys(tx.t[table]).filter((key) => key !== "enableRLS" && key !== "getSQL");
  columnNames.set(table, columns);
  return columns;
}

function slotsFor(columns: string[]): Values {
  return Object.fromEntries(columns.map((column) => [column, sql.placeholder(column)]));
}

/** How rows of a table are inserted one by one: what their statement is kept under, and a row without values. */
interface Inserting {
  build: object;
  empty: Values;
}

const insertions = new Map<TableName, Inserting>();

function insertionInto(tx: Tx, table: TableName): Inserting {
  const known = insertions.get(table);
  if (known !== undefined) return known;
  const empty = Object.fromEntries(columnsOf(tx, table).map((column) => [column, null]));
  const made = { build: {}, empty };
  insertions.set(table, made);
  return made;
}

/** Inserts one row, prepared; all columns are given or null, so no default of an engine is relied on. */
export function insertRow<N extends TableName>(tx: Tx, table: N, row: NewRow<N>): Promise<void> {
  // An order has a dozen rows: what is awaited once need not be awaited on the way.
  try {
    const { build, empty } = insertionInto(tx, table);
    const prepared = prepareOn(tx, build, () => {
      // Every column of the table is present as a placeholder.
      const insert: unknown = tx.db.insert(tx.t[table]).values(slotsFor(Object.keys(empty)) as never);
      // As in `preparedShape`.
      return insert as Preparable<unknown>;
    });
    return prepared.insert?.(row) ?? prepared.execute({ ...empty, ...row }).then(() => undefined);
  } catch (error) {
    // Some wait for it together with other statements, and must have all of them.
    return Promise.reject(error);
  }
}

/** The elements of a JSON array, each as `listed.value`: many values are one parameter of a prepared statement. */
export function elementsOf(t: Tables, json: SQL): SQL {
  return t === sqliteTables
    ? sql`json_each(${json}) as listed`
    : sql`json_array_elements(cast(${json} as json)) as listed(value)`;
}

/** Many texts as one parameter, for `isListed`. */
export function listOf(texts: readonly string[]): string {
  return JSON.stringify(texts.map((text) => [text]));
}

/** Whether a column is one of the texts of a `listOf`: a prepared statement takes lists of every length. */
export function isListed(t: Tables, column: Column, json: SQL): SQL {
  return isAmong(t, column, sql`select listed.value ->> 0 from ${elementsOf(t, json)}`);
}

/**
 * Whether a column is one of the few values that a query answers. PostgreSQL expects many of a query and would read the
 * whole table; of an array it expects few, and takes the column's index.
 */
export function isAmong(t: Tables, column: Column, query: SQLWrapper): SQL {
  return t === sqliteTables ? sql`${column} in (${query})` : sql`${column} = any (array(${query}))`;
}

/** A query of PostgreSQL's builder. */
interface Lockable<Q> {
  for(strength: "no key update", config: { of?: unknown; skipLocked?: true }): Q;
}

/**
 * On PostgreSQL keeps the rows of a table that a query answers from other transactions until the commit. It waits for
 * those that are locked, in the order of the query, or leaves them out (`skipLocked`). SQLite has one writer.
 */
export function locking<Q>(t: Tables, query: Q, config: { of?: Tables[TableName]; skipLocked?: true }): Q {
  if (t === sqliteTables) return query;
  // The shared types are those of SQLite's builder.
  return (query as unknown as Lockable<Q>).for("no key update", config);
}

/** Whether statements make no round trip: then several plain ones are quicker than one that does their work. */
export function isAtHand({ t }: Read): boolean {
  return t === sqliteTables;
}

/** Tables whose rows are locked several at once, and the columns by whose order all do so. */
const lockOrders = {
  webhookEndpoints: (t: Tables) => [t.webhookEndpoints.id, t.webhookEndpoints.created_at] as const,
  stockPools: (t: Tables) => [t.stockPools.product_id] as const,
};

/** Locks rows until the commit, in one order. Nothing to do on SQLite. */
export async function lockRows(tx: Tx, table: keyof typeof lockOrders, ids: ReadonlySet<string>): Promise<void> {
  if (ids.size === 0 || tx.t === sqliteTables) return;
  const prepared = preparedShape(tx, `lock_${table}`, () => {
    const [id, ...before] = lockOrders[table](tx.t);
    const query = tx.db
      .select({ id })
      .from(tx.t[table])
      .where(isListed(tx.t, id, sql`${sql.placeholder("ids")}`));
    return locking(tx.t, query.orderBy(...before, id), {});
  });
  await prepared.execute({ ids: listOf([...ids]) });
}

/** Joins the rows to be updated with `elementsOf`, by the first cell of each element. */
export function isElement(t: Tables, column: Column, json: SQL): SQL | undefined {
  const joined = sql`${column} = listed.value ->> 0`;
  return t === sqliteTables ? joined : and(joined, isListed(t, column, json));
}

/** Most parameters of a statement for several rows: with more of them it is no quicker. */
const MOST_SLOTS = 200;

/**
 * Inserts very many rows, in their order; columns as in `insertRow`, and all of them have to be given. On SQLite by a
 * statement for some of them, whose values need not be written and read as JSON: where one row follows the other in an
 * index its place is looked for once. On PostgreSQL as `insertRows`.
 */
export async function insertEach<N extends TableName>(
  tx: Tx,
  table: N,
  rows: Row<N>[],
  { skipKnown = false } = {},
): Promise<void> {
  // A whole row is one to be inserted.
  if (tx.t !== sqliteTables) return insertRows(tx, table, rows as NewRow<N>[], { skipKnown });
  const insert = (together: number) =>
    preparedShape(tx, `insert_each_${table}_${skipKnown}_${together}`, () => {
      const made = insertOf(tx, table, together);
      return skipKnown ? made.onConflictDoNothing() : made;
    });
  const together = Math.floor(MOST_SLOTS / columnsOf(tx, table).length);
  const inGroups = rows.length - (rows.length % together);
  if (inGroups > 0) eachOf(insert(together), rows.slice(0, inGroups), together);
  if (inGroups < rows.length) eachOf(insert(1), rows.slice(inGroups));
}

/** Columns that have the same value in all rows of a statement: texts of letters alone, so that it can hold them. */
type Fixed = Readonly<Record<string, string | number | boolean | null>>;

/**
 * Inserts very many rows as `insertEach`, but those that have the same values of a unique index as another row, stored
 * or before it: answers the places of these. `unique`: all columns of that index; `fixed`: what all rows have, always.
 */
export async function insertNew<F extends Fixed & Partial<Row<"passports">>>(
  tx: Tx,
  table: "passports",
  rows: Omit<Row<"passports">, keyof F>[],
  { fixed, unique }: { fixed: F; unique: Column[] },
): Promise<number[]> {
  const target = { target: unique as never };
  const shape = `insert_new_${table}_${JSON.stringify(fixed)}_${unique.map(({ name }) => name).join(",")}`;
  if (tx.t === sqliteTables) {
    const literals = Object.fromEntries(Object.entries(fixed).map(([name, value]) => [name, literalOf(value)]));
    const insert = () => insertOf(tx, table, 1, literals).onConflictDoNothing(target);
    return eachOf(preparedShape(tx, shape, insert), rows);
  }
  const columns = namedColumns(tx, table, columnsOf(tx, table));
  const insert = () => insertOfMany(tx, table, columns).onConflictDoNothing(target).returning({ id: tx.t[table].id });
  const whole = rows.map((row) => ({ ...fixed, ...row }));
  // What `returning` names.
  const inserted = (await preparedShape(tx, shape, insert).execute({ rows: cellsOf(columns, whole) })) as Values[];
  const ids = new Set(inserted.map(({ id }) => id));
  return whole.flatMap(({ id }, place) => (ids.has(id) ? [] : place));
}

/** A value as the text of a statement has it, so that no execution binds it. */
function literalOf(value: Fixed[string]): SQL {
  if (typeof value !== "string") return sql.raw(value === null ? "null" : String(Number(value)));
  if (!/^[a-z_]*$/.test(value)) throw new Error(`a statement cannot hold ${value}`);
  return sql.raw(`'${value}'`);
}

/** The insert of so many rows whose columns are all given, or literals. */
function insertOf<N extends TableName>(tx: Tx, table: N, rows: number, literals: Values = {}) {
  const slots = { ...slotsFor(columnsOf(tx, table)), ...literals };
  // Every column of the table is present.
  return tx.db.insert(tx.t[table]).values(new Array(rows).fill(slots) as never);
}

function eachOf(prepared: Prepared, rows: Values[], together = 1): number[] {
  if (prepared.each === undefined) throw new Error("an insert cannot be executed directly");
  return prepared.each(rows, together);
}

/**
 * Inserts many rows by one statement, in their order; columns as in `insertRow`. With `skipKnown` rows that are there
 * already stay as they are.
 */
export async function insertRows<N extends TableName>(
  tx: Tx,
  table: N,
  rows: NewRow<N>[],
  { skipKnown = false } = {},
): Promise<void> {
  if (rows.length === 0) return;
  const columns = namedColumns(tx, table, columnsOf(tx, table));
  const prepared = preparedShape(tx, `insert_many_${table}_${skipKnown}`, () => {
    const insert = insertOfMany(tx, table, columns);
    return skipKnown ? insert.onConflictDoNothing() : insert;
  });
  await prepared.execute({ rows: cellsOf(columns, rows) });
}

/** The insert of the rows that `cellsOf` makes one parameter of. */
function insertOfMany<N extends TableName>(tx: Tx, table: N, columns: readonly NamedColumn[]) {
  const cells = columns.map(({ column }, at) => elementCell(column, at));
  // Every column of the table, in its order: the select has the shape of its rows.
  const from = elementsOf(tx.t, sql`${sql.placeholder("rows")}`);
  // Without "where" SQLite takes "on conflict" for the condition of a join.
  const all = sql`select ${sql.join(cells, sql`, `)} from ${from} where true`;
  return tx.db.insert(tx.t[table]).select(all as never);
}

/** Primary keys of tables whose rows are changed many at once; of the others it is `id`. */
const updateKeys: Partial<Record<TableName, readonly string[]>> = {
  eventFeeds: ["partner_id", "environment"],
  wallets: ["partner_id", "currency"],
};

/**
 * Writes the same columns into many rows by one statement, each found by its key, all of which each has: those that the
 * first of `rows` has.
 */
export async function updateRows<N extends TableName>(
  tx: Tx,
  table: N,
  rows: readonly Partial<Row<N>>[],
): Promise<void> {
  const [one] = rows;
  if (one === undefined) return;
  const keys = updateKeys[table] ?? ["id"];
  const names = Object.keys(one).filter((name) => !keys.includes(name));
  const columns = namedColumns(tx, table, [...keys, ...names.sort()]);
  const prepared = preparedShape(tx, `update_many_${table}_${names.join(",")}`, () => {
    const cells = columns.map(({ name, column }, at) => ({ name, column, cell: elementCell(column, at) }));
    const [first, ...others] = cells.slice(0, keys.length);
    const list = sql`${sql.placeholder("rows")}`;
    const changes = Object.fromEntries(cells.slice(keys.length).map(({ name, cell }) => [name, cell]));
    const found = [first && isElement(tx.t, first.column, list), ...others.map(({ column, cell }) => eq(column, cell))];
    return (
      tx.db
        .update(tx.t[table])
        .set(changes as never)
        // Its type expects a table.
        .from(elementsOf(tx.t, list))
        .where(and(...found))
    );
  });
  await prepared.execute({ rows: cellsOf(columns, rows) });
}

type NamedColumn = { name: string; column: Column };

function namedColumns(tx: Tx, table: TableName, names: readonly string[]): NamedColumn[] {
  return names.flatMap((name) => {
    const column: unknown = Reflect.get(tx.t[table], name);
    return is(column, Column) ? [{ name, column }] : [];
  });
}

/** Cell `at` of an element of `cellsOf`, with the type of its column. */
function elementCell(column: Column, at: number): SQL {
  const text = sql`listed.value ->> ${sql.raw(String(at))}`;
  return column.getSQLType().startsWith("text") ? text : sql`cast(${text} as bigint)`;
}

/** The cells of rows as one parameter for `elementsOf`. */
function cellsOf(columns: readonly NamedColumn[], rows: readonly object[]): string {
  const cells = rows.map((row) =>
    columns.map(({ name, column }) => {
      const value: unknown = Reflect.get(row, name);
      return value === undefined || value === null ? null : column.mapToDriverValue(value);
    }),
  );
  return JSON.stringify(cells);
}

/**
 * Writes the columns of `change` into the row with this key, prepared per set of columns; those that are left out or
 * undefined stay as they are.
 */
export async function updateRow<N extends TableName>(
  tx: Tx,
  table: N,
  key: KeyOf<N>,
  change: Partial<Row<N>>,
): Promise<void> {
  const changed = Object.entries(change).filter(([, value]) => value !== undefined);
  if (changed.length === 0) return;
  const columns = changed.map(([column]) => column).sort();
  const prepared = preparedShape(tx, `update_${table}_${columns.join(",")}`, () =>
    tx.db
      .update(tx.t[table])
      .set(slotsFor(columns) as never)
      .where(keyed(tx, table, key)),
  );
  await prepared.execute({ ...Object.fromEntries(changed), ...keyValues(key) });
}

/** The row with this key, or null. */
export async function findByKey<N extends TableName>(q: Read, table: N, key: KeyOf<N>): Promise<Row<N> | null> {
  const prepared = preparedShape(q, `find_${table}`, () =>
    q.db
      .select()
      .from(q.t[table] as Tables["orders"])
      .where(keyed(q, table, key)),
  );
  // A select of a whole table yields its rows.
  const rows = (await prepared.execute(keyValues(key))) as Row<N>[];
  return rows[0] ?? null;
}

function keyed<N extends TableName>(q: Read, table: N, key: KeyOf<N>): SQL | undefined {
  const columns: Values = { ...q.t[table] };
  // A key's names are columns of its table.
  return and(...Object.keys(key).map((name) => eq(columns[name] as never, sql.placeholder(`key_${name}`))));
}

function keyValues(key: object): Values {
  return Object.fromEntries(Object.entries(key).map(([name, value]) => [`key_${name}`, value]));
}
