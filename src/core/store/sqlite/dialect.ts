import type Database from "better-sqlite3";
import { and, eq, isNull, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/better-sqlite3";
import type { EsimId, ProductId } from "../../kernel/brand.ts";
import type { Connection } from "../engine.ts";
import { sqliteTables, type TableName } from "../schema/tables.ts";
import { columnsOf, preparedShape, type Slots, statement } from "../statement.ts";
import type { ClaimedUnit, Db, Dialect, StockClaim, Tx } from "../store.ts";
import { type DirectlyPrepared, prepareDirectly } from "./prepared.ts";

/** Most parameters of a statement for several rows: with more of them it is no quicker. */
const MOST_SLOTS = 200;

const choose = statement((db, t, slot: Slots<{ productId: ProductId; quantity: number }>) =>
  db
    .select({ id: t.esims.id, cost: t.esims.cost, cost_currency: t.esims.cost_currency })
    .from(t.esims)
    .where(and(eq(t.esims.product_id, slot.productId), isNull(t.esims.order_id)))
    .orderBy(t.esims.id)
    .limit(slot.quantity),
);

type Owner = Omit<StockClaim, "productId" | "quantity"> & { id: EsimId };

const assign = statement((db, t, { id, orderId, lineId, partnerId, at }: Slots<Owner>) =>
  db
    .update(t.esims)
    .set({ order_id: orderId, line_id: lineId, partner_id: partnerId, environment: "production", assigned_at: at })
    .where(and(eq(t.esims.id, id), isNull(t.esims.order_id))),
);

/**
 * `Dialect.claim`, eSIM by eSIM: an update that chooses from its own table keeps what it has chosen in a table of its
 * own, which takes longer.
 */
async function claimEach(tx: Tx, claims: readonly StockClaim[]): Promise<ClaimedUnit[]> {
  const claimed: ClaimedUnit[] = [];
  for (const { productId, quantity, ...owner } of claims) {
    for (const { id, ...cost } of await choose(tx, { productId, quantity })) {
      if ((await assign(tx, { ...owner, id })).changes > 0) claimed.push({ line_id: owner.lineId, ...cost });
    }
  }
  return claimed;
}

/** What SQLite has to say in words of its own. */
export const sqliteDialect: Dialect = {
  prepare: prepareDirectly,
  listed: (json) => sql`json_each(${json}) as listed`,
  among: (column, query) => sql`${column} in (${query})`,
  joined: (column) => sql`${column} = listed.value ->> 0`,
  // There is one writer.
  locks: false,
  lock: (query) => query,
  async insertOne(tx, table, row) {
    insertion(tx, table, 1).each([row]);
  },
  /**
   * By a statement for some of them, whose values need not be written and read as JSON: where one row follows the other
   * in an index its place is looked for once.
   */
  async insertMany(tx, table, rows, skipKnown) {
    const together = Math.floor(MOST_SLOTS / columnsOf(tx, table).length);
    const inGroups = rows.length - (rows.length % together);
    if (inGroups > 0) insertion(tx, table, together, skipKnown).each(rows.slice(0, inGroups), together);
    if (inGroups < rows.length) insertion(tx, table, 1, skipKnown).each(rows.slice(inGroups));
  },
  insertNew: async (tx, table, rows) => insertion(tx, table, 1, true).each(rows),
  claim: claimEach,
};

/** A connection as core sees it. */
export function connectionOver(connection: Database.Database): Connection {
  // Its rows are those of a synchronous driver, which can be awaited as well.
  return { db: drizzle(connection) as Db, t: sqliteTables, prepared: new Map(), dialect: sqliteDialect, context: null };
}

/** The insert of so many rows. */
function insertion(tx: Tx, table: TableName, rows: number, skipKnown = false): Required<DirectlyPrepared> {
  const prepared = preparedShape(tx, `insert_${table}_${rows}_${skipKnown}`, () => {
    const slots = Object.fromEntries(columnsOf(tx, table).map(({ name }) => [name, sql.placeholder(name)]));
    // Every column of the table is present.
    const made = tx.db.insert(tx.t[table]).values(new Array(rows).fill(slots) as never);
    return skipKnown ? made.onConflictDoNothing() : made;
  });
  // `prepareDirectly` made it, of an insert that answers no rows.
  return prepared as Required<DirectlyPrepared>;
}
