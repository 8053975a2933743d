import { createHash } from "node:crypto";
import { and, eq, isNull, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { OrderId, OrderLineId, PartnerId, ProductId } from "../../kernel/brand.ts";
import type { Connection } from "../engine.ts";
import { postgresTables } from "../schema/postgres-tables.ts";
import type { Row, TableName } from "../schema/tables.ts";
import {
  cellsOf,
  columnsOf,
  elementCell,
  isListed,
  numberAt,
  preparedShape,
  type Slots,
  statement,
  textAt,
} from "../statement.ts";
import type { ClaimedUnit, Db, Dialect, StockClaim, Tx } from "../store.ts";

/** A query of PostgreSQL's builder. */
interface Lockable<Q> {
  for(strength: "no key update", config: { of?: unknown; skipLocked?: true }): Q;
}

type Units = { needs: string; units: string };

/** JSON: `needs` lists products and quantities, `units` product, place from 1 on, order, line, partner and moment. */
const assignUnits = statement((db, t, slot: Slots<Units>, dialect) => {
  const { id, product_id, order_id } = t.esims;
  const free = db
    .select({ id })
    .from(t.esims)
    .where(and(eq(product_id, sql`needs.product_id`), isNull(order_id)))
    .orderBy(id)
    // Its type expects a number.
    .limit(sql`needs.quantity` as unknown as number);
  // Chosen once, before they are joined with the units: what chooses them locks them.
  const chosen = sql`select needs.product_id, one.id, one.place
    from (select ${textAt(0)} as product_id, ${numberAt(1)} as quantity from ${dialect.listed(slot.needs)}) as needs
    cross join lateral unnest(array(${dialect.lock(free, { skipLocked: true })})) with ordinality as one(id, place)`;
  const picked = sql`(with chosen as materialized (${chosen})
    select chosen.id, listed.value from chosen
    join ${dialect.listed(slot.units)} on ${textAt(0)} = chosen.product_id and ${numberAt(1)} = chosen.place
  ) as listed`;
  return (
    db
      .update(t.esims)
      .set({
        order_id: textAt<OrderId>(2),
        line_id: textAt<OrderLineId>(3),
        partner_id: textAt<PartnerId>(4),
        environment: "production",
        assigned_at: numberAt(5),
      })
      // As above.
      .from(picked)
      .where(eq(id, sql`listed.id`))
      .returning({ line_id: t.esims.line_id, cost: t.esims.cost, cost_currency: t.esims.cost_currency })
  );
});

/** `Dialect.claim`, all of them by one statement. */
async function claimTogether(tx: Tx, claims: readonly StockClaim[]): Promise<ClaimedUnit[]> {
  const needs = new Map<ProductId, number>();
  const units = claims.flatMap(({ productId, orderId, lineId, partnerId, quantity, at: moment }) => {
    const before = needs.get(productId) ?? 0;
    needs.set(productId, before + quantity);
    return Array.from({ length: quantity }, (_, at) => [
      productId,
      before + at + 1,
      orderId,
      lineId,
      partnerId,
      moment,
    ]);
  });
  const lists = { needs: JSON.stringify([...needs]), units: JSON.stringify(units) };
  return units.length === 0 ? [] : assignUnits(tx, lists);
}

/** What PostgreSQL has to say in words of its own. */
export const postgresDialect: Dialect = {
  prepare(made) {
    const fresh = made.prepare(nameOf(made.toSQL().sql));
    return { execute: async (params) => fresh.execute(params) };
  },
  listed: (json) => sql`json_array_elements(cast(${json} as json)) as listed(value)`,
  // It expects many of a query and would read the whole table; of an array it expects few, and takes the index.
  among: (column, query) => sql`${column} = any (array(${query}))`,
  joined: (column, json) => sql`${and(sql`${column} = listed.value ->> 0`, isListed(postgresDialect, column, json))}`,
  locks: true,
  // The shared types are those of SQLite's builder.
  lock: (query, config) => (query as unknown as Lockable<typeof query>).for("no key update", config),
  async insertOne(tx, table, row) {
    const columns = columnsOf(tx, table);
    const prepared = preparedShape(tx, `insert_${table}`, () => {
      const slots = Object.fromEntries(columns.map(({ name }) => [name, sql.placeholder(name)]));
      // Every column of the table is present as a placeholder.
      return tx.db.insert(tx.t[table]).values(slots as never);
    });
    await prepared.execute({ ...Object.fromEntries(columns.map(({ name }) => [name, null])), ...row });
  },
  async insertMany(tx, table, rows, skipKnown) {
    const prepared = preparedShape(tx, `insert_many_${table}_${skipKnown}`, () => {
      const insert = insertOfMany(tx, table);
      return skipKnown ? insert.onConflictDoNothing() : insert;
    });
    await prepared.execute({ rows: cellsOf(columnsOf(tx, table), rows) });
  },
  async insertNew(tx, table, rows) {
    const insert = () => insertOfMany(tx, table).onConflictDoNothing().returning({ id: tx.t[table].id });
    const prepared = preparedShape(tx, `insert_new_${table}`, insert);
    // What `returning` names.
    const inserted = (await prepared.execute({ rows: cellsOf(columnsOf(tx, table), rows) })) as Pick<
      Row<"orders">,
      "id"
    >[];
    const ids = new Set<unknown>(inserted.map(({ id }) => id));
    return rows.flatMap((row, place) => (ids.has(Reflect.get(row, "id")) ? [] : place));
  },
  claim: claimTogether,
};

/** A connection as core sees it. */
export function connectionOver(builder: NodePgDatabase): Connection {
  // The builder has the same shape for both engines; see schema/kit.ts.
  return {
    db: builder as unknown as Db,
    t: postgresTables,
    prepared: new Map(),
    dialect: postgresDialect,
    context: null,
  };
}

/**
 * The name of a prepared statement: the same text has the same name in every process, and another text another one, so
 * that sessions shared through a pooler of connections never mix statements. PostgreSQL compares the first 63
 * characters.
 */
function nameOf(text: string): string {
  return `s_${createHash("sha256").update(text).digest("hex").slice(0, 40)}`;
}

/** The insert of rows that `cellsOf` makes one parameter of. */
function insertOfMany<N extends TableName>(tx: Tx, table: N) {
  // Every column of the table, in its order: the select has the shape of its rows.
  const cells = columnsOf(tx, table).map(({ column }, at) => elementCell(column, at));
  const all = sql`select ${sql.join(cells, sql`, `)} from ${postgresDialect.listed(sql`${sql.placeholder("rows")}`)}`;
  return tx.db.insert(tx.t[table]).select(all as never);
}
