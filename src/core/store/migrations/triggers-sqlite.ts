import { fillChains } from "./fill-chains.ts";
import type { Migration } from "./migration.ts";

/**
 * SQLite's triggers, which the schema builder cannot express: the ledger and other evidence only grow.
 * Literals: a released migration never changes, and a new rule is a migration of its own at the end.
 */
export const triggers: Migration[] = [
  {
    name: "9000_ledger_guards",
    statements: [
      "CREATE TRIGGER ledger_transactions_no_update BEFORE UPDATE ON ledger_transactions BEGIN SELECT RAISE(ABORT, 'the ledger only grows'); END",
      "CREATE TRIGGER ledger_transactions_no_delete BEFORE DELETE ON ledger_transactions BEGIN SELECT RAISE(ABORT, 'the ledger only grows'); END",
      "CREATE TRIGGER ledger_postings_no_update BEFORE UPDATE ON ledger_postings BEGIN SELECT RAISE(ABORT, 'the ledger only grows'); END",
      "CREATE TRIGGER ledger_postings_no_delete BEFORE DELETE ON ledger_postings BEGIN SELECT RAISE(ABORT, 'the ledger only grows'); END",
    ],
  },
  {
    name: "9005_evidence_chains",
    statements: [
      "DROP TRIGGER IF EXISTS ledger_transactions_no_update",
    ],
    fill: fillChains,
  },
  {
    name: "9006_evidence_guards",
    statements: [
      "CREATE TRIGGER ledger_transactions_no_update BEFORE UPDATE ON ledger_transactions BEGIN SELECT RAISE(ABORT, 'the ledger only grows'); END",
      "CREATE TRIGGER audit_entries_no_update BEFORE UPDATE ON audit_entries BEGIN SELECT RAISE(ABORT, 'evidence is only added to'); END",
      "CREATE TRIGGER audit_entries_no_delete BEFORE DELETE ON audit_entries BEGIN SELECT RAISE(ABORT, 'evidence is only added to'); END",
      "CREATE TRIGGER signed_heads_no_update BEFORE UPDATE ON signed_heads BEGIN SELECT RAISE(ABORT, 'evidence is only added to'); END",
      "CREATE TRIGGER signed_heads_no_delete BEFORE DELETE ON signed_heads BEGIN SELECT RAISE(ABORT, 'evidence is only added to'); END",
    ],
  },
  {
    name: "9007_ledger_balances",
    statements: [
      "DROP TRIGGER ledger_transactions_no_update",
      "UPDATE ledger_transactions SET balance_after_cents = summed.balance FROM (\n        SELECT id, sum(CASE WHEN kind IN ('credit', 'refund') THEN amount_cents ELSE -amount_cents END)\n          OVER (PARTITION BY partner_id, currency ORDER BY chain_no) AS balance FROM ledger_transactions\n      ) AS summed WHERE summed.id = ledger_transactions.id",
      "CREATE TRIGGER ledger_transactions_no_update BEFORE UPDATE ON ledger_transactions BEGIN SELECT RAISE(ABORT, 'the ledger only grows'); END",
    ],
  },
  {
    name: "9010_order_versions",
    statements: [
      "CREATE TRIGGER orders_version AFTER UPDATE OF order_number, partner_id, environment, status, currency, total_cents, refunded_cents, quantity, product_id, product_sku, unit_price_cents, metadata, external_order_id, customer_sealed, created_at, updated_at, first_unit, scenario ON orders BEGIN UPDATE orders SET version = version + 1 WHERE id IN (NEW.id); END",
      "CREATE TRIGGER order_lines_version AFTER UPDATE OF order_id, position, product_id, product_name, product_sku, product_type, quantity, unit_price_cents, status, shipping ON order_lines BEGIN UPDATE orders SET version = version + 1 WHERE id IN (NEW.order_id); END",
      "CREATE TRIGGER order_items_version AFTER UPDATE OF order_id, line_id, position, traveller_sealed, status ON order_items BEGIN UPDATE orders SET version = version + 1 WHERE id IN (NEW.order_id); END",
      "CREATE TRIGGER esims_version AFTER UPDATE OF iccid, eid, sealed, order_id, line_id, environment ON esims WHEN EXISTS (SELECT 1 FROM order_lines WHERE id IN (OLD.line_id, NEW.line_id) AND status = 'fulfilled') BEGIN UPDATE orders SET version = version + 1 WHERE id IN (OLD.order_id, NEW.order_id); END",
      "CREATE TRIGGER esims_version_insert AFTER INSERT ON esims WHEN EXISTS (SELECT 1 FROM order_lines WHERE id IN (NEW.line_id) AND status = 'fulfilled') BEGIN UPDATE orders SET version = version + 1 WHERE id IN (NEW.order_id); END",
      "CREATE TRIGGER esims_version_delete AFTER DELETE ON esims WHEN EXISTS (SELECT 1 FROM order_lines WHERE id IN (OLD.line_id) AND status = 'fulfilled') BEGIN UPDATE orders SET version = version + 1 WHERE id IN (OLD.order_id); END",
    ],
  },
  {
    // Responses about orders are no longer kept, so that nothing asks for an order's version.
    name: "9011_no_order_versions",
    statements: [
      "DROP TRIGGER orders_version",
      "DROP TRIGGER order_lines_version",
      "DROP TRIGGER order_items_version",
      "DROP TRIGGER esims_version",
      "DROP TRIGGER esims_version_insert",
      "DROP TRIGGER esims_version_delete",
    ],
  },
  {
    // Kosovo has one code, however it was written.
    name: "9012_kosovo",
    statements: ["UPDATE passports SET passport_country = 'RKS' WHERE passport_country = 'XKX'"],
  },
];
