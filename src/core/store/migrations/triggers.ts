import { fillChains } from "./fill-chains.ts";
import type { Migration } from "./migration.ts";

/**
 * SQLite's triggers, which the schema builder cannot express: the ledger and other evidence only grow.
 * Literals: a released migration never changes, and a new rule is a migration of its own at the end.
 */
export const sqliteTriggers: Migration[] = [
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

/**
 * PostgreSQL's triggers, which the schema builder cannot express: the ledger and other evidence only grow.
 * Literals: a released migration never changes, and a new rule is a migration of its own at the end.
 */
export const postgresTriggers: Migration[] = [
  {
    name: "9000_ledger_guards",
    statements: [
      "CREATE FUNCTION refuse_ledger_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'the ledger only grows'; END $$",
      "CREATE TRIGGER ledger_transactions_no_update BEFORE UPDATE ON ledger_transactions EXECUTE FUNCTION refuse_ledger_change()",
      "CREATE TRIGGER ledger_transactions_no_delete BEFORE DELETE ON ledger_transactions EXECUTE FUNCTION refuse_ledger_change()",
      "CREATE TRIGGER ledger_postings_no_update BEFORE UPDATE ON ledger_postings EXECUTE FUNCTION refuse_ledger_change()",
      "CREATE TRIGGER ledger_postings_no_delete BEFORE DELETE ON ledger_postings EXECUTE FUNCTION refuse_ledger_change()",
    ],
  },
  {
    name: "9005_evidence_chains",
    statements: [
      "DROP TRIGGER IF EXISTS ledger_transactions_no_update ON ledger_transactions",
    ],
    fill: fillChains,
  },
  {
    name: "9006_evidence_guards",
    statements: [
      "CREATE FUNCTION refuse_evidence_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'evidence is only added to'; END $$",
      "CREATE TRIGGER ledger_transactions_no_update BEFORE UPDATE ON ledger_transactions EXECUTE FUNCTION refuse_ledger_change()",
      "CREATE TRIGGER audit_entries_no_update BEFORE UPDATE ON audit_entries EXECUTE FUNCTION refuse_evidence_change()",
      "CREATE TRIGGER audit_entries_no_delete BEFORE DELETE ON audit_entries EXECUTE FUNCTION refuse_evidence_change()",
      "CREATE TRIGGER signed_heads_no_update BEFORE UPDATE ON signed_heads EXECUTE FUNCTION refuse_evidence_change()",
      "CREATE TRIGGER signed_heads_no_delete BEFORE DELETE ON signed_heads EXECUTE FUNCTION refuse_evidence_change()",
      "CREATE TRIGGER ledger_transactions_no_truncate BEFORE TRUNCATE ON ledger_transactions EXECUTE FUNCTION refuse_evidence_change()",
      "CREATE TRIGGER ledger_postings_no_truncate BEFORE TRUNCATE ON ledger_postings EXECUTE FUNCTION refuse_evidence_change()",
      "CREATE TRIGGER audit_entries_no_truncate BEFORE TRUNCATE ON audit_entries EXECUTE FUNCTION refuse_evidence_change()",
      "CREATE TRIGGER signed_heads_no_truncate BEFORE TRUNCATE ON signed_heads EXECUTE FUNCTION refuse_evidence_change()",
    ],
  },
  {
    name: "9007_ledger_balances",
    statements: [
      "DROP TRIGGER ledger_transactions_no_update ON ledger_transactions",
      "UPDATE ledger_transactions SET balance_after_cents = summed.balance FROM (\n        SELECT id, sum(CASE WHEN kind IN ('credit', 'refund') THEN amount_cents ELSE -amount_cents END)\n          OVER (PARTITION BY partner_id, currency ORDER BY chain_no) AS balance FROM ledger_transactions\n      ) AS summed WHERE summed.id = ledger_transactions.id",
      "CREATE TRIGGER ledger_transactions_no_update BEFORE UPDATE ON ledger_transactions EXECUTE FUNCTION refuse_ledger_change()",
    ],
  },
  {
    name: "9010_order_versions",
    statements: [
      "CREATE FUNCTION raise_orders_version() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.version := OLD.version + 1; RETURN NEW; END $$",
      "CREATE TRIGGER orders_version BEFORE UPDATE OF order_number, partner_id, environment, status, currency, total_cents, refunded_cents, quantity, product_id, product_sku, unit_price_cents, metadata, external_order_id, customer_sealed, created_at, updated_at, first_unit, scenario ON orders FOR EACH ROW EXECUTE FUNCTION raise_orders_version()",
      "CREATE FUNCTION raise_order_lines_version() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE orders SET version = version + 1 WHERE id IN (NEW.order_id); RETURN NULL; END $$",
      "CREATE TRIGGER order_lines_version AFTER UPDATE OF order_id, position, product_id, product_name, product_sku, product_type, quantity, unit_price_cents, status, shipping ON order_lines FOR EACH ROW EXECUTE FUNCTION raise_order_lines_version()",
      "CREATE FUNCTION raise_order_items_version() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE orders SET version = version + 1 WHERE id IN (NEW.order_id); RETURN NULL; END $$",
      "CREATE TRIGGER order_items_version AFTER UPDATE OF order_id, line_id, position, traveller_sealed, status ON order_items FOR EACH ROW EXECUTE FUNCTION raise_order_items_version()",
      "CREATE FUNCTION raise_esims_version() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF EXISTS (SELECT 1 FROM order_lines WHERE id IN (OLD.line_id, NEW.line_id) AND status = 'fulfilled') THEN UPDATE orders SET version = version + 1 WHERE id IN (OLD.order_id, NEW.order_id); END IF; RETURN NULL; END $$",
      "CREATE TRIGGER esims_version AFTER UPDATE OF iccid, eid, sealed, order_id, line_id, environment ON esims FOR EACH ROW EXECUTE FUNCTION raise_esims_version()",
      "CREATE FUNCTION raise_esims_version_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF EXISTS (SELECT 1 FROM order_lines WHERE id IN (NEW.line_id) AND status = 'fulfilled') THEN UPDATE orders SET version = version + 1 WHERE id IN (NEW.order_id); END IF; RETURN NULL; END $$",
      "CREATE TRIGGER esims_version_insert AFTER INSERT ON esims FOR EACH ROW EXECUTE FUNCTION raise_esims_version_insert()",
      "CREATE FUNCTION raise_esims_version_delete() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF EXISTS (SELECT 1 FROM order_lines WHERE id IN (OLD.line_id) AND status = 'fulfilled') THEN UPDATE orders SET version = version + 1 WHERE id IN (OLD.order_id); END IF; RETURN NULL; END $$",
      "CREATE TRIGGER esims_version_delete AFTER DELETE ON esims FOR EACH ROW EXECUTE FUNCTION raise_esims_version_delete()",
    ],
  },
  {
    // Responses about orders are no longer kept, so that nothing asks for an order's version.
    name: "9011_no_order_versions",
    statements: [
      "DROP TRIGGER orders_version ON orders",
      "DROP FUNCTION raise_orders_version()",
      "DROP TRIGGER order_lines_version ON order_lines",
      "DROP FUNCTION raise_order_lines_version()",
      "DROP TRIGGER order_items_version ON order_items",
      "DROP FUNCTION raise_order_items_version()",
      "DROP TRIGGER esims_version ON esims",
      "DROP FUNCTION raise_esims_version()",
      "DROP TRIGGER esims_version_insert ON esims",
      "DROP FUNCTION raise_esims_version_insert()",
      "DROP TRIGGER esims_version_delete ON esims",
      "DROP FUNCTION raise_esims_version_delete()",
    ],
  },
  {
    // Kosovo has one code, however it was written.
    name: "9012_kosovo",
    statements: ["UPDATE passports SET passport_country = 'RKS' WHERE passport_country = 'XKX'"],
  },
];
