import { literal } from "./fill-chains.ts";
import type { Migration, MigrationTarget } from "./migration.ts";

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
  { name: "9002_product_keys", statements: [], fill: fillProductKeys },
  {
    name: "9003_order_line_owners",
    statements: [
      `UPDATE order_lines SET partner_id = orders.partner_id, environment = orders.environment,
        created_at = orders.created_at FROM orders WHERE orders.id = order_lines.order_id`,
    ],
  },
  {
    // Sandbox orders on their way begin again: their eSIMs, which were visible to no one, are computed from now on.
    name: "9004_sandbox_units",
    statements: [
      `DELETE FROM esims WHERE environment = 'sandbox'
        AND order_id IN (SELECT id FROM orders WHERE status = 'pending_payment')`,
      `UPDATE order_lines SET assigned = 0 WHERE environment = 'sandbox'
        AND order_id IN (SELECT id FROM orders WHERE status = 'pending_payment')`,
      `UPDATE orders SET first_unit = numbered.first_unit FROM (
        SELECT id, sum(quantity) OVER (ORDER BY id) - quantity AS first_unit FROM orders
        WHERE environment = 'sandbox' AND status = 'pending_payment'
      ) AS numbered WHERE numbered.id = orders.id`,
      `INSERT INTO settings (key, value)
        SELECT 'sandbox_units', cast(sum(quantity) AS text) FROM orders
        WHERE environment = 'sandbox' AND status = 'pending_payment' HAVING count(*) > 0`,
    ],
  },
  {
    name: "9008_event_feed",
    statements: [
      `UPDATE events SET feed_no = numbered.feed_no FROM (
        SELECT id, row_number() OVER (PARTITION BY partner_id, environment ORDER BY id) AS feed_no FROM events
      ) AS numbered WHERE numbered.id = events.id`,
      `INSERT INTO event_feeds (partner_id, environment, last_no, dropped_no)
        SELECT partner_id, environment, max(feed_no), 0 FROM events GROUP BY partner_id, environment`,
    ],
  },
  {
    name: "9009_sandbox_notices",
    statements: [
      `UPDATE sandbox_clocks SET notices_through = cast(settings.value AS bigint) FROM settings
        WHERE settings.key = 'esim_notices_through:' || sandbox_clocks.partner_id`,
      "DELETE FROM settings WHERE key LIKE 'esim_notices_through:%'",
    ],
  },
  {
    name: "9013_line_refunds",
    statements: [
      `UPDATE order_lines SET refunded_cents = unit_price_cents * CASE WHEN status IN ('cancelled', 'failed')
        THEN quantity ELSE (SELECT coalesce(sum(order_items.quantity), 0) FROM order_items
          WHERE order_items.line_id = order_lines.id AND order_items.status IN ('cancelled', 'failed')) END
        WHERE order_id IN (SELECT id FROM orders WHERE refunded_cents > 0)`,
    ],
  },
];

async function fillProductKeys(target: MigrationTarget): Promise<void> {
  const products = await target.rows("SELECT id, region, coverage FROM products");
  if (products.length === 0) return;
  // Loaded where there is something to fill: every start of the program comes through here.
  const { coverageKey } = await import("../../kernel/country.ts");
  const { regionKey } = await import("../../kernel/search-keys.ts");
  for (const { id, region, coverage } of products) {
    // The column holds the list as the schema's json() wrote it.
    const places = JSON.parse(String(coverage)) as string[];
    const keys = `region_key = ${literal(regionKey(String(region)))}, coverage_key = ${literal(coverageKey(places))}`;
    await target.run(`UPDATE products SET ${keys} WHERE id = ${literal(String(id))}`);
  }
}
