import { and, eq, type SQL, sql } from "drizzle-orm";
import { insertLater } from "./batch-context.ts";
import type { NewRow, Row, TableName, Tables, TableWithId } from "./schema/tables.ts";
import { cellsOf, elementCell, isListed, listOf, namedColumns, preparedShape } from "./statement.ts";
import type { Read, Tx } from "./store.ts";

/** Primary keys of tables that have no `id`. */
interface NamedKeys {
  carriers: "prefix";
  circuits: "supplier";
  credentials: "client_id";
  signInFailures: "mark";
  signingKeys: "kid";
  priceLists: "name";
  stockPools: "product_id";
  supplierTokens: "supplier";
  suppliers: "name";
}

/** The primary key of a table whose rows are read and changed one by one. */
export type KeyOf<N extends TableName> = N extends keyof NamedKeys
  ? Pick<Row<N>, NamedKeys[N] & keyof Row<N>>
  : "id" extends keyof Row<N>
    ? Pick<Row<N>, "id">
    : never;

type Values = Record<string, unknown>;

/**
 * Inserts rows in their order, at once or at the end of a batch; columns that are left out are null, so no default of
 * an engine is relied on. With `skipKnown` rows that are there already stay as they are.
 */
export async function insert<N extends TableName>(
  tx: Tx,
  table: N,
  rows: readonly NewRow<N>[],
  { skipKnown = false } = {},
): Promise<void> {
  const [one] = rows;
  if (one === undefined) return;
  if (tx.context !== null && !skipKnown) insertLater(tx.context, tx, { table, rows });
  else if (rows.length === 1 && !skipKnown) await tx.dialect.insertOne(tx, table, one);
  else await tx.dialect.insertMany(tx, table, rows, skipKnown);
}

/** Inserts rows but those that are there already, or came before: answers the places of these. */
export function insertNew<N extends TableWithId>(tx: Tx, table: N, rows: readonly NewRow<N>[]): Promise<number[]> {
  return rows.length === 0 ? Promise.resolve([]) : tx.dialect.insertNew(tx, table, rows);
}

/** Tables whose rows are locked several at once, and the columns by whose order all do so. */
const lockOrders = {
  webhookEndpoints: (t: Tables) => [t.webhookEndpoints.id, t.webhookEndpoints.created_at] as const,
  stockPools: (t: Tables) => [t.stockPools.product_id] as const,
};

/** Locks rows until the commit, in one order. */
export async function lockRows(tx: Tx, table: keyof typeof lockOrders, ids: readonly string[]): Promise<void> {
  if (ids.length === 0 || !tx.dialect.locks) return;
  const prepared = preparedShape(tx, `lock_${table}`, () => {
    const [id, ...before] = lockOrders[table](tx.t);
    const query = tx.db
      .select({ id })
      .from(tx.t[table])
      .where(isListed(tx.dialect, id, sql`${sql.placeholder("ids")}`));
    return tx.dialect.lock(query.orderBy(...before, id), {});
  });
  await prepared.execute({ ids: listOf(ids) });
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
    const found = [
      first && tx.dialect.joined(first.column, list),
      ...others.map(({ column, cell }) => eq(column, cell)),
    ];
    return (
      tx.db
        .update(tx.t[table])
        .set(changes as never)
        // Its type expects a table.
        .from(tx.dialect.listed(list))
        .where(and(...found))
    );
  });
  await prepared.execute({ rows: cellsOf(columns, rows) });
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
      .set(Object.fromEntries(columns.map((column) => [column, sql.placeholder(column)])) as never)
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
