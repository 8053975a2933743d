import { desc, eq, type SQL, sql } from "drizzle-orm";
import type { OrderId } from "../kernel/brand.ts";
import { isoTime } from "../kernel/clock.ts";
import { randomAlphanumeric } from "../kernel/ids.ts";
import type { Owner } from "../kernel/owner.ts";
import { notFound, Problem } from "../kernel/problem.ts";
import { loader } from "../store/batch-context.ts";
import { findByKey } from "../store/rows.ts";
import type { Row, Tables } from "../store/schema/tables.ts";
import type { OrderScenario } from "../store/schema/values.ts";
import { first, isListed, listOf, type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { customerOf } from "./customer.ts";

export type OrderRow = Row<"orders">;
export type LineRow = Row<"orderLines">;

/** Leads to the indexes of the orders that are not fulfilled: it must match their predicate exactly. */
export function notFulfilled(t: Tables): SQL {
  return sql`${t.orders.status} <> 'fulfilled'`;
}

const linesOf = statement((db, t, slot: Slots<{ order_id: OrderId }>) =>
  db.select().from(t.orderLines).where(eq(t.orderLines.order_id, slot.order_id)).orderBy(t.orderLines.position),
);

/** The order's row, of any partner. Throws `not_found`. */
export async function requireOrder(q: Read, id: OrderId): Promise<OrderRow> {
  const row = await findByKey(q, "orders", { id });
  if (row === null) throw notFound("order");
  return row;
}

/** Throws `conflict` for a sandbox order: it never reaches stock or suppliers, so nothing can be delivered to it. */
export function refuseSandboxOrder({ environment, order_number }: OrderRow): void {
  if (environment === "production") return;
  const words = `Order ${order_number} is a sandbox order: it stays as its scenario left it.`;
  throw new Problem("conflict", `${words} It can be rejected or cancelled.`);
}

/** The order's row, if it is `owner`'s. Throws `not_found` otherwise, whether it exists or not. */
export async function requireOwnOrder(q: Read, owner: Owner, id: OrderId): Promise<OrderRow> {
  const row = await requireOrder(q, id);
  if (row.partner_id !== owner.partnerId || row.environment !== owner.environment) throw notFound("order");
  return row;
}

/** An order's lines in their order. */
export function linesOfOrder(q: Read, orderId: OrderId): Promise<LineRow[]> {
  return linesOf(q, { order_id: orderId });
}

type OrderFacts = Pick<OrderRow, "external_order_id" | "refunded_cents"> & {
  customer: ReturnType<typeof customerOf>;
  /** Only of an order that was created with one. */
  sandbox_scenario?: OrderScenario;
};

/** What every order record has beyond the contract: the partner's own names in it, the refund, the scenario. */
export function orderFacts(q: Pick<Read, "vault">, row: OrderRow): OrderFacts {
  const { external_order_id, refunded_cents, scenario } = row;
  const facts = { external_order_id, customer: customerOf(q, row), refunded_cents };
  return scenario === null ? facts : { ...facts, sandbox_scenario: scenario };
}

/** The Order record (contract: Order), as create and list return it. */
export function toOrder(q: Pick<Read, "vault">, row: OrderRow, lines: LineRow[]) {
  const { id, order_number, partner_id, product_id, product_sku, quantity, unit_price_cents, currency, status } = row;
  return {
    id,
    order_number,
    partner_id,
    product_id,
    product_sku,
    quantity,
    unit_price_cents,
    total_price_cents: row.total_cents,
    total_amount_cents: row.total_cents,
    currency,
    status,
    ...orderFacts(q, row),
    line_items: lines.map((line) => ({
      product_id: line.product_id,
      product_sku: line.product_sku,
      quantity: line.quantity,
      unit_price_cents: line.unit_price_cents,
    })),
    metadata: row.metadata,
    created_at: isoTime(row.created_at),
    updated_at: isoTime(row.updated_at),
  };
}

export type Order = ReturnType<typeof toOrder>;

const numberTaken = statement((db, t, slot: Slots<{ order_number: string }>) =>
  db.select({ id: t.orders.id }).from(t.orders).where(eq(t.orders.order_number, slot.order_number)),
);

/** The id of the order with this number, of any partner; null: there is none. */
export async function orderIdByNumber(q: Read, number: string): Promise<OrderId | null> {
  return first(await numberTaken(q, { order_number: number.toUpperCase() }))?.id ?? null;
}

const byNumber = statement((db, t, slot: Slots<{ order_number: string }>) =>
  db.select().from(t.orders).where(eq(t.orders.order_number, slot.order_number)),
);

/** The order with this number, of any partner, or null. */
export async function findOrderByNumber(q: Read, order_number: string): Promise<OrderRow | null> {
  return first(await byNumber(q, { order_number: order_number.toUpperCase() }));
}

const ofRequest = statement((db, t, slot: Slots<{ request_id: string; limit: number }>) =>
  db
    .select()
    .from(t.orders)
    .where(eq(t.orders.request_id, slot.request_id))
    .orderBy(desc(t.orders.id))
    .limit(slot.limit),
);

/** The newest orders that HTTP requests of this id placed. */
export function ordersOfRequest(q: Read, request_id: string, limit: number): Promise<OrderRow[]> {
  return ofRequest(q, { request_id, limit });
}

const takenNumbers = statement((db, t, slot: Slots<{ numbers: string }>, dialect) => {
  const { order_number } = t.orders;
  return db
    .select({ order_number })
    .from(t.orders)
    .where(isListed(dialect, order_number, slot.numbers));
});

/** Numbers by their beginning that were found free, and that no command has takenNumbers yet. */
const freeNumbers = loader<string, string[]>({ loadMany: async (_, starts) => starts.map(() => []) });

/** The number of an order of that moment (ms): ORD-<yyyymmdd>-<5 alphanumerics>, by UTC's date; unique. */
export async function newNumber(tx: Tx, created_at: number): Promise<string> {
  const start = startOfNumbers(created_at);
  for (;;) {
    const ready = (await freeNumbers.get(tx, start)).pop();
    if (ready !== undefined) return ready;
    const number = `${start}${randomAlphanumeric(tx.ids, 5)}`;
    if ((await orderIdByNumber(tx, number)) === null) return number;
  }
}

/** Finds numbers for orders of this moment that commands of a batch create. */
export async function prefetchNumbers(tx: Tx, orders: readonly unknown[]): Promise<void> {
  const start = startOfNumbers(tx.now);
  const numbers = new Set(Array.from(orders, () => `${start}${randomAlphanumeric(tx.ids, 5)}`));
  const used = await takenNumbers(tx, { numbers: listOf([...numbers]) });
  for (const { order_number } of used) numbers.delete(order_number);
  freeNumbers.set(tx, start, [...(await freeNumbers.get(tx, start)), ...numbers]);
}

function startOfNumbers(created_at: number): string {
  return `ORD-${isoTime(created_at).slice(0, 10).replaceAll("-", "")}-`;
}
