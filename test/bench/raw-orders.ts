import Database from "better-sqlite3";
import { isoTime, systemClock } from "../../src/core/kernel/clock.ts";
import { randomAlphanumeric, randomIds } from "../../src/core/kernel/ids.ts";
import type { BenchStore } from "./platform.ts";

/**
 * The peer of order creation: better-sqlite3 without anything around it, on a database of the same schema, in WAL mode
 * with synchronous=FULL. Each order is one transaction that writes the rows which `createOrder` writes for one line; it
 * looks nothing up and checks nothing. Where `stock` says which eSIMs it has, orders get one each and are fulfilled.
 */
export function rawOrders({ file, partnerId, productId, stock }: BenchStore & { stock?: readonly string[] }) {
  const database = new Database(file);
  database.pragma("journal_mode = WAL");
  database.pragma("synchronous = FULL");
  database.pragma("foreign_keys = ON");
  const ids = randomIds();
  const insert = insertsOf(database);
  const charge = database.prepare(
    "UPDATE wallets SET balance_cents = balance_cents - ?, last_transaction_at = ? " +
      "WHERE partner_id = ? AND currency = ?",
  );
  const sale = stock && sell(database, { partnerId, productId, stock });
  const price = 250;
  // Above those of the store's own orders.
  let feedNo = 1_000_000_000;

  function writeRows(key: string): void {
    const now = systemClock.now();
    const id = ids.uuid(now);
    const order_number = `ORD-20260302-${randomAlphanumeric(ids, 8)}`;
    const owner = { partner_id: partnerId, environment: "production" };
    const bought = { product_id: productId, product_sku: "PLAN-0", quantity: 1, unit_price_cents: price };
    charge.run(price, now, partnerId, "AUD");
    const transaction_id = ids.uuid(now);
    const amounts = { currency: "AUD", amount_cents: price, balance_after_cents: 0 };
    const charged = { partner_id: partnerId, order_id: id, ...amounts, created_at: now };
    insert.ledger_transactions({ id: transaction_id, kind: "charge", reference: order_number, ...charged });
    const posting = { transaction_id, currency: "AUD" };
    insert.ledger_postings({ ...posting, account: `wallet:${partnerId}`, amount_cents: -price });
    insert.ledger_postings({ ...posting, account: "house:sales", amount_cents: price });
    const state = sale ? fulfilledAt(now) : waitingSince(now);
    const times = { created_at: now, updated_at: now };
    const sums = { currency: "AUD", total_cents: price, refunded_cents: 0, wallet_balance_after_cents: 0 };
    const rest = { ahead_ms: 0, lease_no: 0, version: 0, metadata: "{}" };
    insert.orders({ id, order_number, ...owner, ...bought, ...sums, ...state.order, ...times, ...rest });
    const placed = { id: ids.uuid(now), order_id: id, ...owner, created_at: now };
    const line = { ...placed, position: 0, ...state.line };
    const product = { product_name: "Plan PLAN-0", product_type: "esim_qr_pregen", delivery_method: "stock" };
    insert.order_lines({ ...line, ...product, ...bought, refunded_cents: 0 });
    insert.idempotency_keys({ ...owner, space: "single", key, payload_hash: key, order_id: id });
    const created_at = isoTime(now);
    const about = () => ({ ...owner, subject_id: id, occurred_at: now, feed_no: feedNo++ });
    const named = { id, order_number, partner_id: partnerId, status: "paid" };
    const priced = { total_price_cents: price, currency: "AUD" };
    const line_items = [bought];
    const made = JSON.stringify({ ...named, ...priced, line_items, created_at });
    insert.events({ id: ids.uuid(now), kind: "order.created", ...about(), data: made });
    const payment = { amount_cents: price, currency: "AUD", payment_method: "wallet", completed_at: created_at };
    const paid = JSON.stringify({ order_id: id, order_number, ...payment, transaction_id });
    insert.events({ id: ids.uuid(now), kind: "payment.completed", ...about(), data: paid });
    for (const { kind, ...data } of sale?.({ id, order_number, lineId: placed.id, now }) ?? [])
      insert.events({ id: ids.uuid(now), kind, ...about(), data: JSON.stringify(data) });
  }

  return { create: database.transaction(writeRows), close: () => void database.close() };
}

type Sold = Pick<BenchStore, "partnerId" | "productId"> & { stock: readonly string[] };

interface Sale {
  id: string;
  order_number: string;
  lineId: string;
  now: number;
}

/** Hands an order the next eSIM; the events that say so. Throws an `Error` when all are sold. */
function sell(database: Database.Database, { partnerId, productId, stock }: Sold) {
  const take = database.prepare("UPDATE stock_pools SET available = available - 1 WHERE product_id = ?");
  const assign = database.prepare(
    "UPDATE esims SET order_id = ?, line_id = ?, partner_id = ?, environment = 'production', assigned_at = ? " +
      "WHERE id = ?",
  );
  const left = stock.values();
  return ({ id, order_number, lineId, now }: Sale) => {
    const { value: esim } = left.next();
    if (esim === undefined) throw new Error("all eSIMs of the peer are sold");
    take.run(productId);
    assign.run(id, lineId, partnerId, now, esim);
    return [
      { kind: "order.fulfilled", id, order_number, status: "fulfilled", fulfilled_at: isoTime(now) },
      { kind: "esims.ready", order_id: id, order_number, count: 1 },
    ];
  };
}

/** What the rows of an order and its line say of its state. */
const fulfilledAt = (now: number) => ({
  order: { status: "fulfilled", reserved: 1, fulfilled_at: now },
  line: { status: "fulfilled", assigned: 1 },
});
const waitingSince = (now: number) => ({
  order: { status: "paid", reserved: 0, due_at: now },
  line: { status: "pending", assigned: 0 },
});

const tables = [
  "ledger_transactions",
  "ledger_postings",
  "orders",
  "order_lines",
  "idempotency_keys",
  "events",
] as const;

type Insert = (row: Record<string, string | number | null>) => void;

/** Prepared inserts by table; columns that are not given are null. */
function insertsOf(database: Database.Database): Record<(typeof tables)[number], Insert> {
  const of = (table: string): Insert => {
    const columns = database.prepare("SELECT name FROM pragma_table_info(?)").pluck().all(table).map(String);
    const slots = columns.map((column) => `@${column}`);
    const prepared = database.prepare(`INSERT INTO ${table} (${columns.join(", ")}) VALUES (${slots.join(", ")})`);
    const nothing = Object.fromEntries(columns.map((column) => [column, null]));
    return (row) => void prepared.run({ ...nothing, ...row });
  };
  // Every table of the list has its entry.
  return Object.fromEntries(tables.map((table) => [table, of(table)])) as Record<(typeof tables)[number], Insert>;
}
