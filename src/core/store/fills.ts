import type { Migration } from "./migration.ts";

/**
 * Migrations that compute new columns for rows from before those columns. They follow the schema's migrations, so that
 * the list which `npm run migration` writes holds nothing that a person must add to it.
 */
export const fills: Migration[] = [
  {
    name: "9001_order_refunds",
    statements: [
      `UPDATE orders SET refunded_cents = (
        SELECT coalesce(sum(amount_cents), 0) FROM ledger_transactions
        WHERE ledger_transactions.order_id = orders.id AND ledger_transactions.kind = 'refund'
      ) WHERE id IN (SELECT order_id FROM ledger_transactions WHERE kind = 'refund')`,
    ],
  },
];
