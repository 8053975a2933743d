import Database from "better-sqlite3";
import type { PartnerId, ProductId } from "../../src/core/kernel/brand.ts";

/** The orders of the past, of which `orders` are made. */
export interface Past {
  partnerId: PartnerId;
  productId: ProductId;
  orders: number;
  /** The number of the first: databases that are filled several times hold each number once. Left out: 0. */
  first?: number;
}

/** The share of orders whose events are younger than their retention. */
const WITH_EVENTS = 10;
/** Milliseconds between one order and the next. */
const APART = 1_000;

/**
 * Puts fulfilled orders of one line into a database that nothing else uses, by SQL: what `createOrder` writes for each,
 * with sizes and order of ids as it has them. They have no eSIMs, and hashes that no chain vouches for.
 */
export function fillOrders(file: string, { partnerId, productId, orders, first = 0 }: Past): void {
  const database = new Database(file);
  try {
    database.pragma("journal_mode = WAL");
    database.pragma("synchronous = OFF");
    database.pragma("cache_size = -262144");
    database.pragma("wal_autocheckpoint = 20000");
    const begins = Date.now() - (first + orders + 60) * APART;
    for (const sql of statements) {
      const last = sql.includes("INTO events") ? Math.ceil(orders / WITH_EVENTS) : orders;
      const end = first + orders;
      for (let from = end - last; from < end; from += 50_000) {
        const to = Math.min(end, from + 50_000);
        database.prepare(numbered(sql)).run({ from, to, begins, partner: partnerId, product: productId });
      }
    }
    database.pragma("wal_checkpoint(TRUNCATE)");
  } finally {
    database.close();
  }
}

/** The statement over the numbers of a batch: `n`, and of each its time and the tail of its ids. */
function numbered(sql: string): string {
  return sql.replace(
    "SELECT",
    `WITH RECURSIVE n(n) AS (SELECT @from UNION ALL SELECT n + 1 FROM n WHERE n + 1 < @to),
       m AS (SELECT n, @begins + n * ${APART} AS at, printf('%016x', n * 2654435761 % 2147483648 * 4294967296 + n) AS x
             FROM n)
     SELECT`,
  );
}

/** A UUIDv7 of the moment `at`, one for each kind of row. */
const id = (kind: number) =>
  `printf('%08x-%04x-7%03x-8%s-%s', at / 65536, at % 65536, ${kind}, substr(x, 1, 3), substr(x, 5, 12))`;
const number = "printf('ORD-20260101-%08d', n)";
const bought = "@product, 'PLAN-0', 1, 250";

const statements = [
  `INSERT INTO orders (id, order_number, partner_id, environment, status, currency, total_cents, product_id,
     product_sku, quantity, unit_price_cents, metadata, wallet_balance_after_cents, request_id, created_by, created_at,
     updated_at, fulfilled_at, reserved, lease_no, version)
   SELECT ${id(1)}, ${number}, @partner, 'production', 'fulfilled', 'AUD', 250, ${bought}, '{}', 100000000 - n,
     ${id(2)}, 'client:sk_live_bench', at, at + 100, at + 100, 1, 0, 3 FROM m`,
  `INSERT INTO order_lines (id, order_id, partner_id, environment, created_at, position, product_name, product_type,
     delivery_method, product_id, product_sku, quantity, unit_price_cents, status, assigned)
   SELECT ${id(3)}, ${id(1)}, @partner, 'production', at, 0, 'Plan PLAN-0', 'esim_qr_pregen', 'stock', ${bought},
     'fulfilled', 1 FROM m`,
  `INSERT INTO idempotency_keys (partner_id, environment, space, key, payload_hash, order_id)
   SELECT @partner, 'production', 'single', 'past-' || x, x || x || x || x, ${id(1)} FROM m`,
  `INSERT INTO ledger_transactions (id, kind, partner_id, order_id, currency, amount_cents, reference,
     balance_after_cents, created_at, chain_no, hash)
   SELECT ${id(4)}, 'charge', @partner, ${id(1)}, 'AUD', 250, ${number}, 100000000 - n, at, -n - 1, x || x || x || x
   FROM m`,
  `INSERT INTO ledger_postings (transaction_id, account, currency, amount_cents)
   SELECT ${id(4)}, side.account, 'AUD', side.amount FROM m,
     (SELECT 'wallet:' || @partner AS account, -250 AS amount UNION ALL SELECT 'house:sales', 250) AS side`,
  `INSERT INTO events (id, kind, partner_id, environment, subject_id, occurred_at, data, feed_no)
   SELECT ${id(5)}, 'order.created', @partner, 'production', ${id(1)}, at,
     json_object('id', ${id(1)}, 'order_number', ${number}, 'status', 'paid', 'total_price_cents', 250), -2 * n - 1
   FROM m`,
  `INSERT INTO events (id, kind, partner_id, environment, subject_id, occurred_at, data, feed_no)
   SELECT ${id(6)}, 'payment.completed', @partner, 'production', ${id(1)}, at,
     json_object('order_id', ${id(1)}, 'amount_cents', 250, 'transaction_id', ${id(4)}), -2 * n - 2 FROM m`,
];
