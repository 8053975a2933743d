// Made by `npm run migration`; a migration that was released is never changed.
import type { Migration } from "./migration.ts";

export const migrations: Migration[] = [
  {
    "name": "0001_initial",
    "statements": [
      "CREATE TABLE \"settings\" (\n\t\"key\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"value\" text COLLATE \"C\" NOT NULL\n);\n",
      "CREATE TABLE \"data_keys\" (\n\t\"id\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"purpose\" text COLLATE \"C\" NOT NULL,\n\t\"wrapped\" text COLLATE \"C\" NOT NULL,\n\t\"created_at\" bigint NOT NULL,\n\t\"retired_at\" bigint\n);\n",
      "CREATE TABLE \"audit_entries\" (\n\t\"id\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"at\" bigint NOT NULL,\n\t\"actor\" text COLLATE \"C\" NOT NULL,\n\t\"action\" text COLLATE \"C\" NOT NULL,\n\t\"target_kind\" text COLLATE \"C\" NOT NULL,\n\t\"target_id\" text COLLATE \"C\" NOT NULL,\n\t\"partner_id\" text COLLATE \"C\",\n\t\"fields\" text COLLATE \"C\",\n\t\"note\" text COLLATE \"C\",\n\t\"request_id\" text COLLATE \"C\"\n);\n",
      "CREATE TABLE \"request_counts\" (\n\t\"minute\" bigint PRIMARY KEY NOT NULL,\n\t\"requests\" bigint NOT NULL,\n\t\"failed\" bigint NOT NULL\n);\n",
      "CREATE TABLE \"cron_runs\" (\n\t\"job\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"started_at\" bigint NOT NULL,\n\t\"took_ms\" bigint NOT NULL,\n\t\"done\" bigint NOT NULL,\n\t\"error\" text COLLATE \"C\"\n);\n",
      "CREATE TABLE \"partners\" (\n\t\"id\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"slug\" text COLLATE \"C\" NOT NULL,\n\t\"name\" text COLLATE \"C\" NOT NULL,\n\t\"status\" text COLLATE \"C\" NOT NULL,\n\t\"tier\" text COLLATE \"C\" NOT NULL,\n\t\"rate_limit\" bigint,\n\t\"agent\" bigint NOT NULL,\n\t\"production\" bigint NOT NULL,\n\t\"created_at\" bigint NOT NULL,\n\t\"updated_at\" bigint NOT NULL,\n\tCONSTRAINT \"partners_slug\" UNIQUE(\"slug\")\n);\n",
      "CREATE TABLE \"credentials\" (\n\t\"client_id\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"partner_id\" text COLLATE \"C\" NOT NULL,\n\t\"environment\" text COLLATE \"C\" NOT NULL,\n\t\"secret_hash\" text COLLATE \"C\" NOT NULL,\n\t\"scopes\" text COLLATE \"C\" NOT NULL,\n\t\"label\" text COLLATE \"C\",\n\t\"created_at\" bigint NOT NULL,\n\t\"rotated_at\" bigint,\n\t\"revoked_at\" bigint\n);\n",
      "CREATE TABLE \"signing_keys\" (\n\t\"kid\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"public_jwk\" text COLLATE \"C\" NOT NULL,\n\t\"private_sealed\" text COLLATE \"C\" NOT NULL,\n\t\"created_at\" bigint NOT NULL,\n\t\"retired_at\" bigint\n);\n",
      "CREATE TABLE \"products\" (\n\t\"id\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"sku\" text COLLATE \"C\" NOT NULL,\n\t\"name\" text COLLATE \"C\" NOT NULL,\n\t\"description\" text COLLATE \"C\",\n\t\"region\" text COLLATE \"C\" NOT NULL,\n\t\"coverage\" text COLLATE \"C\" NOT NULL,\n\t\"data_amount_mb\" bigint NOT NULL,\n\t\"validity_days\" bigint NOT NULL,\n\t\"price_cents\" bigint NOT NULL,\n\t\"currency\" text COLLATE \"C\" NOT NULL,\n\t\"type\" text COLLATE \"C\" NOT NULL,\n\t\"status\" text COLLATE \"C\" NOT NULL,\n\t\"product_type\" text COLLATE \"C\" NOT NULL,\n\t\"delivery_method\" text COLLATE \"C\" NOT NULL,\n\t\"supplier\" text COLLATE \"C\",\n\t\"features\" text COLLATE \"C\",\n\t\"activation_policy\" text COLLATE \"C\",\n\t\"network_type\" text COLLATE \"C\",\n\t\"compatible_devices\" text COLLATE \"C\",\n\t\"created_at\" bigint NOT NULL,\n\t\"updated_at\" bigint NOT NULL,\n\tCONSTRAINT \"products_sku\" UNIQUE(\"sku\")\n);\n",
      "CREATE TABLE \"stock_pools\" (\n\t\"product_id\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"available\" bigint NOT NULL\n);\n",
      "CREATE TABLE \"esims\" (\n\t\"id\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"iccid\" text COLLATE \"C\" NOT NULL,\n\t\"product_id\" text COLLATE \"C\" NOT NULL,\n\t\"order_id\" text COLLATE \"C\",\n\t\"line_id\" text COLLATE \"C\",\n\t\"partner_id\" text COLLATE \"C\",\n\t\"environment\" text COLLATE \"C\",\n\t\"eid\" text COLLATE \"C\",\n\t\"smdp_address\" text COLLATE \"C\" NOT NULL,\n\t\"matching_id\" text COLLATE \"C\" NOT NULL,\n\t\"confirmation_code\" text COLLATE \"C\",\n\t\"status\" text COLLATE \"C\" NOT NULL,\n\t\"status_at\" bigint,\n\t\"created_at\" bigint NOT NULL,\n\t\"assigned_at\" bigint,\n\t\"activated_at\" bigint,\n\t\"expires_at\" bigint,\n\t\"used_mb\" bigint,\n\t\"total_mb\" bigint,\n\t\"usage_at\" bigint,\n\t\"country\" text COLLATE \"C\",\n\t\"network\" text COLLATE \"C\",\n\t\"location_at\" bigint\n);\n",
      "CREATE TABLE \"carriers\" (\n\t\"prefix\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"name\" text COLLATE \"C\" NOT NULL,\n\t\"region\" text COLLATE \"C\" NOT NULL,\n\t\"brand\" text COLLATE \"C\" NOT NULL,\n\t\"required_fields\" text COLLATE \"C\" NOT NULL,\n\t\"adapter\" text COLLATE \"C\" NOT NULL,\n\t\"url\" text COLLATE \"C\",\n\t\"secret_sealed\" text COLLATE \"C\",\n\t\"timeout_ms\" bigint NOT NULL,\n\t\"answer_within_ms\" bigint NOT NULL,\n\t\"created_at\" bigint NOT NULL,\n\t\"updated_at\" bigint NOT NULL\n);\n",
      "CREATE TABLE \"activations\" (\n\t\"id\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"partner_id\" text COLLATE \"C\" NOT NULL,\n\t\"environment\" text COLLATE \"C\" NOT NULL,\n\t\"iccid\" text COLLATE \"C\" NOT NULL,\n\t\"carrier_prefix\" text COLLATE \"C\" NOT NULL,\n\t\"carrier\" text COLLATE \"C\" NOT NULL,\n\t\"activation_date\" text COLLATE \"C\" NOT NULL,\n\t\"customer_name\" text COLLATE \"C\" NOT NULL,\n\t\"customer_email\" text COLLATE \"C\",\n\t\"email_key\" text COLLATE \"C\",\n\t\"customer_phone\" text COLLATE \"C\",\n\t\"plan_name\" text COLLATE \"C\",\n\t\"note\" text COLLATE \"C\",\n\t\"sealed\" text COLLATE \"C\",\n\t\"passport_index\" text COLLATE \"C\",\n\t\"passport_id\" text COLLATE \"C\",\n\t\"status\" text COLLATE \"C\" NOT NULL,\n\t\"processing_status\" text COLLATE \"C\" NOT NULL,\n\t\"processing_mode\" text COLLATE \"C\" NOT NULL,\n\t\"mobile_number\" text COLLATE \"C\",\n\t\"confirmation_number\" text COLLATE \"C\",\n\t\"error_type\" text COLLATE \"C\",\n\t\"error_message\" text COLLATE \"C\",\n\t\"cancel_reason\" text COLLATE \"C\",\n\t\"not_before\" bigint NOT NULL,\n\t\"due_at\" bigint,\n\t\"leased_until\" bigint,\n\t\"faults\" bigint NOT NULL,\n\t\"exchanges\" bigint NOT NULL,\n\t\"deadline_at\" bigint,\n\t\"queued_at\" bigint,\n\t\"created_at\" bigint NOT NULL,\n\t\"updated_at\" bigint NOT NULL,\n\t\"submitted_at\" bigint,\n\t\"confirmed_at\" bigint,\n\t\"activated_at\" bigint,\n\t\"cancelled_at\" bigint,\n\t\"finished_at\" bigint,\n\t\"request_id\" text COLLATE \"C\"\n);\n",
      "CREATE TABLE \"activation_attempts\" (\n\t\"id\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"at\" bigint NOT NULL,\n\t\"source\" text COLLATE \"C\" NOT NULL,\n\t\"outcome\" text COLLATE \"C\" NOT NULL,\n\t\"status_code\" bigint,\n\t\"latency_ms\" bigint,\n\t\"answer\" text COLLATE \"C\",\n\t\"request_id\" text COLLATE \"C\",\n\t\"activation_id\" text COLLATE \"C\" NOT NULL\n);\n",
      "CREATE TABLE \"passports\" (\n\t\"id\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"partner_id\" text COLLATE \"C\" NOT NULL,\n\t\"environment\" text COLLATE \"C\" NOT NULL,\n\t\"first_name\" text COLLATE \"C\" NOT NULL,\n\t\"last_name\" text COLLATE \"C\" NOT NULL,\n\t\"title\" text COLLATE \"C\",\n\t\"passport_country\" text COLLATE \"C\" NOT NULL,\n\t\"passport_expiry\" text COLLATE \"C\" NOT NULL,\n\t\"reference\" text COLLATE \"C\",\n\t\"sealed\" text COLLATE \"C\" NOT NULL,\n\t\"number_index\" text COLLATE \"C\" NOT NULL,\n\t\"verification\" text COLLATE \"C\" NOT NULL,\n\t\"rejection\" text COLLATE \"C\",\n\t\"onshore\" bigint NOT NULL,\n\t\"drawable\" bigint NOT NULL,\n\t\"use_count\" bigint NOT NULL,\n\t\"assigned_request_id\" text COLLATE \"C\",\n\t\"pool_key\" text COLLATE \"C\" NOT NULL,\n\t\"withdrawn_at\" bigint,\n\t\"created_at\" bigint NOT NULL,\n\t\"updated_at\" bigint NOT NULL\n);\n",
      "CREATE TABLE \"passport_uses\" (\n\t\"id\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"passport_id\" text COLLATE \"C\" NOT NULL,\n\t\"brand\" text COLLATE \"C\" NOT NULL,\n\t\"request_id\" text COLLATE \"C\" NOT NULL,\n\t\"carrier\" text COLLATE \"C\" NOT NULL,\n\t\"actor\" text COLLATE \"C\" NOT NULL,\n\t\"drawn_at\" bigint NOT NULL,\n\t\"released_at\" bigint\n);\n",
      "CREATE TABLE \"wallets\" (\n\t\"partner_id\" text COLLATE \"C\" NOT NULL,\n\t\"currency\" text COLLATE \"C\" NOT NULL,\n\t\"balance_cents\" bigint NOT NULL,\n\t\"last_transaction_at\" bigint,\n\tCONSTRAINT \"wallets_partner_id_currency_pk\" PRIMARY KEY(\"partner_id\",\"currency\"),\n\tCONSTRAINT \"wallets_not_negative\" CHECK (\"wallets\".\"balance_cents\" >= 0)\n);\n",
      "CREATE TABLE \"ledger_transactions\" (\n\t\"id\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"kind\" text COLLATE \"C\" NOT NULL,\n\t\"partner_id\" text COLLATE \"C\" NOT NULL,\n\t\"order_id\" text COLLATE \"C\",\n\t\"currency\" text COLLATE \"C\" NOT NULL,\n\t\"amount_cents\" bigint NOT NULL,\n\t\"reference\" text COLLATE \"C\",\n\t\"created_at\" bigint NOT NULL\n);\n",
      "CREATE TABLE \"ledger_postings\" (\n\t\"transaction_id\" text COLLATE \"C\" NOT NULL,\n\t\"account\" text COLLATE \"C\" NOT NULL,\n\t\"currency\" text COLLATE \"C\" NOT NULL,\n\t\"amount_cents\" bigint NOT NULL,\n\tCONSTRAINT \"ledger_postings_transaction_id_account_pk\" PRIMARY KEY(\"transaction_id\",\"account\")\n);\n",
      "CREATE TABLE \"orders\" (\n\t\"id\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"order_number\" text COLLATE \"C\" NOT NULL,\n\t\"partner_id\" text COLLATE \"C\" NOT NULL,\n\t\"environment\" text COLLATE \"C\" NOT NULL,\n\t\"status\" text COLLATE \"C\" NOT NULL,\n\t\"currency\" text COLLATE \"C\" NOT NULL,\n\t\"total_cents\" bigint NOT NULL,\n\t\"quantity\" bigint NOT NULL,\n\t\"product_id\" text COLLATE \"C\" NOT NULL,\n\t\"product_sku\" text COLLATE \"C\" NOT NULL,\n\t\"unit_price_cents\" bigint NOT NULL,\n\t\"metadata\" text COLLATE \"C\" NOT NULL,\n\t\"wallet_balance_after_cents\" bigint,\n\t\"external_order_id\" text COLLATE \"C\",\n\t\"customer\" text COLLATE \"C\",\n\t\"email_key\" text COLLATE \"C\",\n\t\"request_id\" text COLLATE \"C\",\n\t\"created_at\" bigint NOT NULL,\n\t\"updated_at\" bigint NOT NULL,\n\t\"fulfilled_at\" bigint,\n\t\"cancelled_at\" bigint,\n\t\"reason\" text COLLATE \"C\",\n\t\"due_at\" bigint,\n\t\"leased_until\" bigint,\n\t\"reserved\" bigint NOT NULL,\n\tCONSTRAINT \"orders_number\" UNIQUE(\"order_number\")\n);\n",
      "CREATE TABLE \"order_lines\" (\n\t\"id\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"order_id\" text COLLATE \"C\" NOT NULL,\n\t\"position\" bigint NOT NULL,\n\t\"product_id\" text COLLATE \"C\" NOT NULL,\n\t\"product_name\" text COLLATE \"C\" NOT NULL,\n\t\"product_sku\" text COLLATE \"C\" NOT NULL,\n\t\"product_type\" text COLLATE \"C\" NOT NULL,\n\t\"delivery_method\" text COLLATE \"C\" NOT NULL,\n\t\"supplier\" text COLLATE \"C\",\n\t\"quantity\" bigint NOT NULL,\n\t\"unit_price_cents\" bigint NOT NULL,\n\t\"status\" text COLLATE \"C\" NOT NULL,\n\t\"assigned\" bigint NOT NULL,\n\t\"shipping\" text COLLATE \"C\"\n);\n",
      "CREATE TABLE \"idempotency_keys\" (\n\t\"partner_id\" text COLLATE \"C\" NOT NULL,\n\t\"environment\" text COLLATE \"C\" NOT NULL,\n\t\"space\" text COLLATE \"C\" NOT NULL,\n\t\"key\" text COLLATE \"C\" NOT NULL,\n\t\"payload_hash\" text COLLATE \"C\" NOT NULL,\n\t\"order_id\" text COLLATE \"C\" NOT NULL,\n\tCONSTRAINT \"idempotency_keys_partner_id_environment_space_key_pk\" PRIMARY KEY(\"partner_id\",\"environment\",\"space\",\"key\")\n);\n",
      "CREATE TABLE \"order_items\" (\n\t\"id\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"order_id\" text COLLATE \"C\" NOT NULL,\n\t\"line_id\" text COLLATE \"C\" NOT NULL,\n\t\"position\" bigint NOT NULL,\n\t\"quantity\" bigint NOT NULL,\n\t\"traveller\" text COLLATE \"C\",\n\t\"email_key\" text COLLATE \"C\",\n\t\"status\" text COLLATE \"C\" NOT NULL,\n\t\"supplier\" text COLLATE \"C\" NOT NULL,\n\t\"confirmation_number\" text COLLATE \"C\",\n\t\"error_type\" text COLLATE \"C\",\n\t\"error_message\" text COLLATE \"C\",\n\t\"attempts\" bigint NOT NULL,\n\t\"due_at\" bigint,\n\t\"leased_until\" bigint,\n\t\"deadline_at\" bigint,\n\t\"submitted_at\" bigint,\n\t\"confirmed_at\" bigint,\n\t\"activated_at\" bigint,\n\t\"cancelled_at\" bigint,\n\t\"created_at\" bigint NOT NULL,\n\t\"updated_at\" bigint NOT NULL\n);\n",
      "CREATE TABLE \"item_attempts\" (\n\t\"id\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"at\" bigint NOT NULL,\n\t\"source\" text COLLATE \"C\" NOT NULL,\n\t\"outcome\" text COLLATE \"C\" NOT NULL,\n\t\"status_code\" bigint,\n\t\"latency_ms\" bigint,\n\t\"answer\" text COLLATE \"C\",\n\t\"request_id\" text COLLATE \"C\",\n\t\"item_id\" text COLLATE \"C\" NOT NULL\n);\n",
      "CREATE TABLE \"suppliers\" (\n\t\"name\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"adapter\" text COLLATE \"C\" NOT NULL,\n\t\"url\" text COLLATE \"C\",\n\t\"secret_sealed\" text COLLATE \"C\",\n\t\"to_address\" text COLLATE \"C\",\n\t\"template\" text COLLATE \"C\",\n\t\"created_at\" bigint NOT NULL,\n\t\"updated_at\" bigint NOT NULL\n);\n",
      "CREATE TABLE \"events\" (\n\t\"id\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"kind\" text COLLATE \"C\" NOT NULL,\n\t\"partner_id\" text COLLATE \"C\" NOT NULL,\n\t\"environment\" text COLLATE \"C\" NOT NULL,\n\t\"subject_id\" text COLLATE \"C\" NOT NULL,\n\t\"occurred_at\" bigint NOT NULL,\n\t\"data\" text COLLATE \"C\" NOT NULL,\n\t\"expands\" text COLLATE \"C\"\n);\n",
      "CREATE TABLE \"webhook_endpoints\" (\n\t\"id\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"partner_id\" text COLLATE \"C\" NOT NULL,\n\t\"environment\" text COLLATE \"C\" NOT NULL,\n\t\"url\" text COLLATE \"C\" NOT NULL,\n\t\"events\" text COLLATE \"C\" NOT NULL,\n\t\"status\" text COLLATE \"C\" NOT NULL,\n\t\"description\" text COLLATE \"C\",\n\t\"secret_sealed\" text COLLATE \"C\" NOT NULL,\n\t\"next_secret_sealed\" text COLLATE \"C\",\n\t\"next_secret_from\" bigint,\n\t\"consecutive_failures\" bigint NOT NULL,\n\t\"due_at\" bigint,\n\t\"last_event\" text COLLATE \"C\",\n\t\"last_event_id\" text COLLATE \"C\",\n\t\"last_status_code\" bigint,\n\t\"last_at\" bigint,\n\t\"created_at\" bigint NOT NULL,\n\t\"updated_at\" bigint NOT NULL\n);\n",
      "CREATE TABLE \"deliveries\" (\n\t\"id\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"event_id\" text COLLATE \"C\" NOT NULL,\n\t\"endpoint_id\" text COLLATE \"C\" NOT NULL,\n\t\"status\" text COLLATE \"C\" NOT NULL,\n\t\"attempts\" bigint NOT NULL,\n\t\"due_at\" bigint NOT NULL,\n\t\"leased_until\" bigint,\n\t\"created_at\" bigint NOT NULL\n);\n",
      "CREATE TABLE \"delivery_attempts\" (\n\t\"id\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"delivery_id\" text COLLATE \"C\" NOT NULL,\n\t\"at\" bigint NOT NULL,\n\t\"status_code\" bigint,\n\t\"latency_ms\" bigint NOT NULL,\n\t\"error\" text COLLATE \"C\",\n\t\"response_body\" text COLLATE \"C\"\n);\n",
      "ALTER TABLE \"credentials\" ADD CONSTRAINT \"credentials_partner_id_partners_id_fk\" FOREIGN KEY (\"partner_id\") REFERENCES \"public\".\"partners\"(\"id\") ON DELETE no action ON UPDATE no action;",
      "ALTER TABLE \"stock_pools\" ADD CONSTRAINT \"stock_pools_product_id_products_id_fk\" FOREIGN KEY (\"product_id\") REFERENCES \"public\".\"products\"(\"id\") ON DELETE no action ON UPDATE no action;",
      "ALTER TABLE \"esims\" ADD CONSTRAINT \"esims_product_id_products_id_fk\" FOREIGN KEY (\"product_id\") REFERENCES \"public\".\"products\"(\"id\") ON DELETE no action ON UPDATE no action;",
      "ALTER TABLE \"activations\" ADD CONSTRAINT \"activations_partner_id_partners_id_fk\" FOREIGN KEY (\"partner_id\") REFERENCES \"public\".\"partners\"(\"id\") ON DELETE no action ON UPDATE no action;",
      "ALTER TABLE \"activation_attempts\" ADD CONSTRAINT \"activation_attempts_activation_id_activations_id_fk\" FOREIGN KEY (\"activation_id\") REFERENCES \"public\".\"activations\"(\"id\") ON DELETE no action ON UPDATE no action;",
      "ALTER TABLE \"passports\" ADD CONSTRAINT \"passports_partner_id_partners_id_fk\" FOREIGN KEY (\"partner_id\") REFERENCES \"public\".\"partners\"(\"id\") ON DELETE no action ON UPDATE no action;",
      "ALTER TABLE \"wallets\" ADD CONSTRAINT \"wallets_partner_id_partners_id_fk\" FOREIGN KEY (\"partner_id\") REFERENCES \"public\".\"partners\"(\"id\") ON DELETE no action ON UPDATE no action;",
      "ALTER TABLE \"ledger_transactions\" ADD CONSTRAINT \"ledger_transactions_partner_id_partners_id_fk\" FOREIGN KEY (\"partner_id\") REFERENCES \"public\".\"partners\"(\"id\") ON DELETE no action ON UPDATE no action;",
      "ALTER TABLE \"ledger_postings\" ADD CONSTRAINT \"ledger_postings_transaction_id_ledger_transactions_id_fk\" FOREIGN KEY (\"transaction_id\") REFERENCES \"public\".\"ledger_transactions\"(\"id\") ON DELETE no action ON UPDATE no action;",
      "ALTER TABLE \"orders\" ADD CONSTRAINT \"orders_partner_id_partners_id_fk\" FOREIGN KEY (\"partner_id\") REFERENCES \"public\".\"partners\"(\"id\") ON DELETE no action ON UPDATE no action;",
      "ALTER TABLE \"order_lines\" ADD CONSTRAINT \"order_lines_order_id_orders_id_fk\" FOREIGN KEY (\"order_id\") REFERENCES \"public\".\"orders\"(\"id\") ON DELETE no action ON UPDATE no action;",
      "ALTER TABLE \"order_lines\" ADD CONSTRAINT \"order_lines_product_id_products_id_fk\" FOREIGN KEY (\"product_id\") REFERENCES \"public\".\"products\"(\"id\") ON DELETE no action ON UPDATE no action;",
      "ALTER TABLE \"idempotency_keys\" ADD CONSTRAINT \"idempotency_keys_order_id_orders_id_fk\" FOREIGN KEY (\"order_id\") REFERENCES \"public\".\"orders\"(\"id\") ON DELETE no action ON UPDATE no action;",
      "ALTER TABLE \"order_items\" ADD CONSTRAINT \"order_items_order_id_orders_id_fk\" FOREIGN KEY (\"order_id\") REFERENCES \"public\".\"orders\"(\"id\") ON DELETE no action ON UPDATE no action;",
      "ALTER TABLE \"order_items\" ADD CONSTRAINT \"order_items_line_id_order_lines_id_fk\" FOREIGN KEY (\"line_id\") REFERENCES \"public\".\"order_lines\"(\"id\") ON DELETE no action ON UPDATE no action;",
      "ALTER TABLE \"item_attempts\" ADD CONSTRAINT \"item_attempts_item_id_order_items_id_fk\" FOREIGN KEY (\"item_id\") REFERENCES \"public\".\"order_items\"(\"id\") ON DELETE no action ON UPDATE no action;",
      "ALTER TABLE \"webhook_endpoints\" ADD CONSTRAINT \"webhook_endpoints_partner_id_partners_id_fk\" FOREIGN KEY (\"partner_id\") REFERENCES \"public\".\"partners\"(\"id\") ON DELETE no action ON UPDATE no action;",
      "ALTER TABLE \"deliveries\" ADD CONSTRAINT \"deliveries_event_id_events_id_fk\" FOREIGN KEY (\"event_id\") REFERENCES \"public\".\"events\"(\"id\") ON DELETE no action ON UPDATE no action;",
      "ALTER TABLE \"delivery_attempts\" ADD CONSTRAINT \"delivery_attempts_delivery_id_deliveries_id_fk\" FOREIGN KEY (\"delivery_id\") REFERENCES \"public\".\"deliveries\"(\"id\") ON DELETE no action ON UPDATE no action;",
      "CREATE INDEX \"audit_entries_at\" ON \"audit_entries\" USING btree (\"at\",\"id\");",
      "CREATE INDEX \"audit_entries_target\" ON \"audit_entries\" USING btree (\"target_id\",\"at\",\"id\");",
      "CREATE INDEX \"audit_entries_partner\" ON \"audit_entries\" USING btree (\"partner_id\",\"at\",\"id\");",
      "CREATE INDEX \"audit_entries_request\" ON \"audit_entries\" USING btree (\"request_id\",\"id\") WHERE request_id is not null;",
      "CREATE INDEX \"credentials_partner\" ON \"credentials\" USING btree (\"partner_id\",\"created_at\",\"client_id\");",
      "CREATE INDEX \"products_status_created\" ON \"products\" USING btree (\"status\",\"created_at\",\"id\");",
      "CREATE INDEX \"products_status_price\" ON \"products\" USING btree (\"status\",\"price_cents\",\"id\");",
      "CREATE INDEX \"products_status_name\" ON \"products\" USING btree (\"status\",\"name\",\"id\");",
      "CREATE INDEX \"products_status_region\" ON \"products\" USING btree (\"status\",\"region\",\"created_at\",\"id\");",
      "CREATE UNIQUE INDEX \"esims_iccid_real\" ON \"esims\" USING btree (\"iccid\") WHERE \"esims\".\"environment\" is null or \"esims\".\"environment\" = 'production';",
      "CREATE INDEX \"esims_iccid\" ON \"esims\" USING btree (\"iccid\");",
      "CREATE INDEX \"esims_order\" ON \"esims\" USING btree (\"order_id\",\"id\");",
      "CREATE INDEX \"esims_line\" ON \"esims\" USING btree (\"line_id\",\"id\");",
      "CREATE INDEX \"esims_expiry\" ON \"esims\" USING btree (\"status\",\"expires_at\",\"id\") WHERE \"esims\".\"expires_at\" is not null;",
      "CREATE INDEX \"esims_stock\" ON \"esims\" USING btree (\"product_id\",\"id\") WHERE \"esims\".\"order_id\" is null;",
      "CREATE UNIQUE INDEX \"activations_holder\" ON \"activations\" USING btree (\"iccid\") WHERE status in ('pending', 'processing', 'completed') or processing_status = 'manual_required';",
      "CREATE INDEX \"activations_iccid\" ON \"activations\" USING btree (\"iccid\",\"created_at\",\"id\");",
      "CREATE INDEX \"activations_list\" ON \"activations\" USING btree (\"partner_id\",\"environment\",\"created_at\",\"id\");",
      "CREATE INDEX \"activations_list_status\" ON \"activations\" USING btree (\"partner_id\",\"environment\",\"status\",\"created_at\",\"id\");",
      "CREATE INDEX \"activations_list_iccid\" ON \"activations\" USING btree (\"partner_id\",\"environment\",\"iccid\",\"created_at\",\"id\");",
      "CREATE INDEX \"activations_pickup\" ON \"activations\" USING btree (\"status\",\"due_at\",\"activation_date\",\"id\");",
      "CREATE INDEX \"activations_exchange\" ON \"activations\" USING btree (\"carrier_prefix\",\"status\",\"due_at\",\"id\");",
      "CREATE INDEX \"activations_queue\" ON \"activations\" USING btree (\"queued_at\",\"id\");",
      "CREATE INDEX \"activations_queue_carrier\" ON \"activations\" USING btree (\"carrier_prefix\",\"queued_at\",\"id\");",
      "CREATE INDEX \"activations_passport\" ON \"activations\" USING btree (\"passport_index\",\"id\");",
      "CREATE INDEX \"activations_email\" ON \"activations\" USING btree (\"email_key\",\"id\") WHERE email_key is not null;",
      "CREATE INDEX \"activations_request\" ON \"activations\" USING btree (\"request_id\",\"id\");",
      "CREATE INDEX \"activations_finished\" ON \"activations\" USING btree (\"finished_at\",\"id\") WHERE sealed is not null;",
      "CREATE INDEX \"activation_attempts_of\" ON \"activation_attempts\" USING btree (\"activation_id\",\"at\",\"id\");",
      "CREATE INDEX \"activation_attempts_request\" ON \"activation_attempts\" USING btree (\"request_id\",\"id\") WHERE request_id is not null;",
      "CREATE UNIQUE INDEX \"passports_number\" ON \"passports\" USING btree (\"number_index\",\"partner_id\",\"environment\",\"passport_country\",\"pool_key\");",
      "CREATE INDEX \"passports_list\" ON \"passports\" USING btree (\"partner_id\",\"environment\",\"pool_key\",\"created_at\",\"id\");",
      "CREATE INDEX \"passports_queue\" ON \"passports\" USING btree (\"pool_key\",\"verification\",\"created_at\",\"id\");",
      "CREATE INDEX \"passports_draw\" ON \"passports\" USING btree (\"partner_id\",\"environment\",\"drawable\",\"use_count\",\"id\");",
      "CREATE INDEX \"passports_expiry\" ON \"passports\" USING btree (\"passport_expiry\",\"id\");",
      "CREATE INDEX \"passports_withdrawn\" ON \"passports\" USING btree (\"withdrawn_at\",\"id\");",
      "CREATE INDEX \"passport_uses_passport\" ON \"passport_uses\" USING btree (\"passport_id\",\"brand\",\"released_at\");",
      "CREATE INDEX \"passport_uses_request\" ON \"passport_uses\" USING btree (\"request_id\",\"id\");",
      "CREATE INDEX \"ledger_transactions_partner\" ON \"ledger_transactions\" USING btree (\"partner_id\",\"created_at\",\"id\");",
      "CREATE INDEX \"ledger_transactions_order\" ON \"ledger_transactions\" USING btree (\"order_id\",\"id\");",
      "CREATE INDEX \"ledger_postings_account\" ON \"ledger_postings\" USING btree (\"account\",\"currency\");",
      "CREATE INDEX \"orders_list\" ON \"orders\" USING btree (\"partner_id\",\"environment\",\"created_at\",\"id\");",
      "CREATE INDEX \"orders_list_status\" ON \"orders\" USING btree (\"partner_id\",\"environment\",\"status\",\"created_at\",\"id\");",
      "CREATE INDEX \"orders_status\" ON \"orders\" USING btree (\"status\",\"created_at\",\"id\");",
      "CREATE INDEX \"orders_due\" ON \"orders\" USING btree (\"due_at\",\"id\");",
      "CREATE INDEX \"orders_email\" ON \"orders\" USING btree (\"email_key\",\"id\") WHERE email_key is not null;",
      "CREATE INDEX \"orders_request\" ON \"orders\" USING btree (\"request_id\",\"id\");",
      "CREATE UNIQUE INDEX \"order_lines_order\" ON \"order_lines\" USING btree (\"order_id\",\"position\");",
      "CREATE INDEX \"order_lines_to_ship\" ON \"order_lines\" USING btree (\"order_id\",\"position\") WHERE \"order_lines\".\"delivery_method\" = 'shipping' and \"order_lines\".\"status\" = 'pending';",
      "CREATE UNIQUE INDEX \"order_items_order\" ON \"order_items\" USING btree (\"order_id\",\"position\");",
      "CREATE INDEX \"order_items_line\" ON \"order_items\" USING btree (\"line_id\",\"position\");",
      "CREATE INDEX \"order_items_due\" ON \"order_items\" USING btree (\"due_at\",\"id\");",
      "CREATE INDEX \"order_items_deadline\" ON \"order_items\" USING btree (\"deadline_at\",\"id\");",
      "CREATE INDEX \"order_items_email\" ON \"order_items\" USING btree (\"email_key\",\"id\") WHERE email_key is not null;",
      "CREATE INDEX \"item_attempts_of\" ON \"item_attempts\" USING btree (\"item_id\",\"at\",\"id\");",
      "CREATE INDEX \"item_attempts_request\" ON \"item_attempts\" USING btree (\"request_id\",\"id\") WHERE request_id is not null;",
      "CREATE INDEX \"events_partner\" ON \"events\" USING btree (\"partner_id\",\"environment\",\"occurred_at\",\"id\");",
      "CREATE INDEX \"events_subject\" ON \"events\" USING btree (\"subject_id\",\"id\");",
      "CREATE INDEX \"webhook_endpoints_list\" ON \"webhook_endpoints\" USING btree (\"partner_id\",\"environment\",\"created_at\",\"id\");",
      "CREATE INDEX \"webhook_endpoints_due\" ON \"webhook_endpoints\" USING btree (\"due_at\",\"id\");",
      "CREATE UNIQUE INDEX \"deliveries_event\" ON \"deliveries\" USING btree (\"event_id\",\"endpoint_id\");",
      "CREATE INDEX \"deliveries_queue\" ON \"deliveries\" USING btree (\"endpoint_id\",\"due_at\",\"id\") WHERE \"deliveries\".\"status\" = 'pending';",
      "CREATE INDEX \"deliveries_retries\" ON \"deliveries\" USING btree (\"endpoint_id\",\"due_at\",\"id\") WHERE \"deliveries\".\"status\" = 'pending' and \"deliveries\".\"attempts\" > 0;",
      "CREATE INDEX \"deliveries_endpoint\" ON \"deliveries\" USING btree (\"endpoint_id\",\"id\");",
      "CREATE INDEX \"deliveries_stuck_endpoint\" ON \"deliveries\" USING btree (\"endpoint_id\",\"id\") WHERE \"deliveries\".\"status\" in ('exhausted', 'held');",
      "CREATE INDEX \"deliveries_stuck\" ON \"deliveries\" USING btree (\"id\") WHERE \"deliveries\".\"status\" in ('exhausted', 'held');",
      "CREATE INDEX \"deliveries_held\" ON \"deliveries\" USING btree (\"id\") WHERE \"deliveries\".\"status\" = 'held';",
      "CREATE INDEX \"delivery_attempts_delivery\" ON \"delivery_attempts\" USING btree (\"delivery_id\",\"id\");"
    ]
  },
  {
    "name": "0002_order_refunds",
    "statements": [
      "ALTER TABLE \"orders\" ADD COLUMN \"refunded_cents\" bigint DEFAULT 0 NOT NULL;"
    ]
  },
  {
    "name": "0003_product_keys",
    "statements": [
      "DROP INDEX \"products_status_region\";",
      "ALTER TABLE \"products\" ADD COLUMN \"region_key\" text COLLATE \"C\" DEFAULT '' NOT NULL;",
      "ALTER TABLE \"products\" ADD COLUMN \"coverage_key\" text COLLATE \"C\" DEFAULT '' NOT NULL;",
      "CREATE INDEX \"products_status_region_key\" ON \"products\" USING btree (\"status\",\"region_key\",\"created_at\",\"id\");"
    ]
  },
  {
    "name": "0004_order_line_owners",
    "statements": [
      "ALTER TABLE \"order_lines\" ADD COLUMN \"partner_id\" text COLLATE \"C\" DEFAULT '' NOT NULL;",
      "ALTER TABLE \"order_lines\" ADD COLUMN \"environment\" text COLLATE \"C\" DEFAULT '' NOT NULL;",
      "ALTER TABLE \"order_lines\" ADD COLUMN \"created_at\" bigint DEFAULT 0 NOT NULL;",
      "CREATE INDEX \"order_lines_product\" ON \"order_lines\" USING btree (\"partner_id\",\"environment\",\"product_id\",\"created_at\",\"order_id\");"
    ]
  },
  {
    "name": "0005_leases",
    "statements": [
      "UPDATE orders SET due_at = NULL, leased_until = NULL WHERE status NOT IN ('pending_payment', 'paid', 'waiting_review') AND (due_at IS NOT NULL OR leased_until IS NOT NULL);",
      "UPDATE order_items SET due_at = NULL, leased_until = NULL, deadline_at = NULL WHERE status NOT IN ('pending', 'submitted', 'confirmed') AND (due_at IS NOT NULL OR leased_until IS NOT NULL OR deadline_at IS NOT NULL);",
      "UPDATE activations SET due_at = NULL, leased_until = NULL, deadline_at = NULL WHERE status NOT IN ('pending', 'processing') AND (due_at IS NOT NULL OR leased_until IS NOT NULL OR deadline_at IS NOT NULL);",
      "UPDATE orders SET due_at = leased_until WHERE due_at IS NOT NULL AND leased_until IS NOT NULL;",
      "UPDATE order_items SET due_at = leased_until WHERE due_at IS NOT NULL AND leased_until IS NOT NULL;",
      "UPDATE activations SET due_at = leased_until WHERE due_at IS NOT NULL AND leased_until IS NOT NULL;",
      "DROP INDEX \"activations_pickup\";",
      "DROP INDEX \"activations_exchange\";",
      "DROP INDEX \"orders_due\";",
      "DROP INDEX \"order_items_due\";",
      "ALTER TABLE \"activations\" ADD COLUMN \"lease_no\" bigint DEFAULT 0 NOT NULL;",
      "ALTER TABLE \"orders\" ADD COLUMN \"lease_no\" bigint DEFAULT 0 NOT NULL;",
      "ALTER TABLE \"order_items\" ADD COLUMN \"lease_no\" bigint DEFAULT 0 NOT NULL;",
      "ALTER TABLE \"deliveries\" ADD COLUMN \"lease_no\" bigint DEFAULT 0 NOT NULL;",
      "CREATE INDEX \"activations_due\" ON \"activations\" USING btree (\"due_at\",\"id\") WHERE due_at is not null;",
      "CREATE INDEX \"activations_deadline\" ON \"activations\" USING btree (\"deadline_at\",\"id\") WHERE deadline_at is not null;",
      "CREATE INDEX \"orders_due_partner\" ON \"orders\" USING btree (\"environment\",\"partner_id\",\"due_at\",\"id\") WHERE due_at is not null;",
      "CREATE INDEX \"order_items_due_supplier\" ON \"order_items\" USING btree (\"supplier\",\"due_at\",\"id\") WHERE due_at is not null;",
      "CREATE INDEX \"webhook_endpoints_due_partner\" ON \"webhook_endpoints\" USING btree (\"environment\",\"partner_id\",\"due_at\",\"id\") WHERE due_at is not null;",
      "CREATE INDEX \"activations_pickup\" ON \"activations\" USING btree (\"due_at\",\"activation_date\",\"id\") WHERE status = 'pending';",
      "CREATE INDEX \"activations_exchange\" ON \"activations\" USING btree (\"carrier_prefix\",\"due_at\",\"id\") WHERE status = 'processing' and due_at is not null;",
      "CREATE INDEX \"orders_due\" ON \"orders\" USING btree (\"due_at\",\"id\") WHERE due_at is not null;",
      "CREATE INDEX \"order_items_due\" ON \"order_items\" USING btree (\"due_at\",\"id\") WHERE due_at is not null;",
      "ALTER TABLE \"activations\" ADD CONSTRAINT \"activations_ended\" CHECK (status in ('pending', 'processing') or (due_at is null and leased_until is null and deadline_at is null));",
      "ALTER TABLE \"orders\" ADD CONSTRAINT \"orders_ended\" CHECK (status in ('pending_payment', 'paid', 'waiting_review') or (due_at is null and leased_until is null));",
      "ALTER TABLE \"order_items\" ADD CONSTRAINT \"order_items_ended\" CHECK (status in ('pending', 'submitted', 'confirmed') or (due_at is null and leased_until is null and deadline_at is null));"
    ]
  },
  {
    "name": "0006_callbacks_and_transport",
    "statements": [
      "CREATE TABLE \"callback_signatures\" (\n\t\"signature\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"expires_at\" bigint NOT NULL\n);\n",
      "ALTER TABLE \"carriers\" ADD COLUMN \"insecure\" bigint DEFAULT 0 NOT NULL;",
      "ALTER TABLE \"suppliers\" ADD COLUMN \"insecure\" bigint DEFAULT 0 NOT NULL;",
      "CREATE INDEX \"callback_signatures_expiry\" ON \"callback_signatures\" USING btree (\"expires_at\");"
    ]
  },
  {
    "name": "0007_sandbox_units",
    "statements": [
      "ALTER TABLE \"orders\" ADD COLUMN \"first_unit\" bigint;",
      "CREATE INDEX \"esims_sandbox\" ON \"esims\" USING btree (\"id\") WHERE environment = 'sandbox';",
      "CREATE UNIQUE INDEX \"orders_first_unit\" ON \"orders\" USING btree (\"first_unit\") WHERE first_unit is not null;",
      "CREATE INDEX \"orders_sandbox\" ON \"orders\" USING btree (\"created_at\",\"id\") WHERE environment = 'sandbox';",
      "CREATE INDEX \"idempotency_keys_order\" ON \"idempotency_keys\" USING btree (\"order_id\");"
    ]
  },
  {
    "name": "0008_partner_limits",
    "statements": [
      "ALTER TABLE \"partners\" ADD COLUMN \"max_endpoints\" bigint;",
      "ALTER TABLE \"partners\" ADD COLUMN \"max_pool\" bigint;",
      "ALTER TABLE \"partners\" ADD COLUMN \"max_open_activations\" bigint;",
      "ALTER TABLE \"partners\" ADD COLUMN \"max_sandbox_activations\" bigint;",
      "ALTER TABLE \"partners\" ADD COLUMN \"max_pending_deliveries\" bigint;",
      "ALTER TABLE \"partners\" ADD COLUMN \"max_days_ahead\" bigint;",
      "ALTER TABLE \"partners\" ADD COLUMN \"sandbox_activations\" bigint DEFAULT 1 NOT NULL;",
      "ALTER TABLE \"deliveries\" ADD COLUMN \"held_reason\" text COLLATE \"C\";",
      "CREATE INDEX \"activations_open\" ON \"activations\" USING btree (\"partner_id\",\"environment\") WHERE status in ('pending', 'processing') or processing_status = 'manual_required';"
    ]
  },
  {
    "name": "0009_activations_by_environment",
    "statements": [
      "DROP INDEX \"activations_pickup\";",
      "DROP INDEX \"activations_exchange\";",
      "CREATE INDEX \"activations_pickup\" ON \"activations\" USING btree (\"environment\",\"due_at\",\"activation_date\",\"id\") WHERE status = 'pending';",
      "CREATE INDEX \"activations_exchange\" ON \"activations\" USING btree (\"environment\",\"carrier_prefix\",\"due_at\",\"id\") WHERE status = 'processing' and due_at is not null;"
    ]
  },
  {
    "name": "0010_evidence_chains",
    "statements": [
      "CREATE TABLE \"chain_heads\" (\n\t\"chain\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"chain_count\" bigint DEFAULT 0 NOT NULL,\n\t\"chain_hash\" text COLLATE \"C\",\n\t\"chain_mark\" text COLLATE \"C\",\n\t\"signed_count\" bigint DEFAULT 0 NOT NULL\n);\n",
      "CREATE TABLE \"signed_heads\" (\n\t\"chain\" text COLLATE \"C\" NOT NULL,\n\t\"count\" bigint NOT NULL,\n\t\"hash\" text COLLATE \"C\" NOT NULL,\n\t\"previous_count\" bigint NOT NULL,\n\t\"signed_at\" bigint NOT NULL,\n\t\"kid\" text COLLATE \"C\" NOT NULL,\n\t\"signature\" text COLLATE \"C\" NOT NULL,\n\tCONSTRAINT \"signed_heads_chain_count_pk\" PRIMARY KEY(\"chain\",\"count\")\n);\n",
      "DROP INDEX \"audit_entries_partner\";",
      "ALTER TABLE \"audit_entries\" ADD COLUMN \"chain\" text COLLATE \"C\";",
      "ALTER TABLE \"audit_entries\" ADD COLUMN \"chain_no\" bigint;",
      "ALTER TABLE \"audit_entries\" ADD COLUMN \"hash\" text COLLATE \"C\";",
      "ALTER TABLE \"wallets\" ADD COLUMN \"chain_count\" bigint DEFAULT 0 NOT NULL;",
      "ALTER TABLE \"wallets\" ADD COLUMN \"chain_hash\" text COLLATE \"C\";",
      "ALTER TABLE \"wallets\" ADD COLUMN \"chain_mark\" text COLLATE \"C\";",
      "ALTER TABLE \"wallets\" ADD COLUMN \"signed_count\" bigint DEFAULT 0 NOT NULL;",
      "ALTER TABLE \"ledger_transactions\" ADD COLUMN \"chain_no\" bigint;",
      "ALTER TABLE \"ledger_transactions\" ADD COLUMN \"hash\" text COLLATE \"C\";",
      "CREATE UNIQUE INDEX \"audit_entries_chain\" ON \"audit_entries\" USING btree (\"chain\",\"chain_no\");",
      "CREATE INDEX \"audit_entries_chain_at\" ON \"audit_entries\" USING btree (\"chain\",\"at\");",
      "CREATE UNIQUE INDEX \"ledger_transactions_chain\" ON \"ledger_transactions\" USING btree (\"partner_id\",\"currency\",\"chain_no\");"
    ]
  },
  {
    "name": "0011_esim_codes",
    "statements": [
      "ALTER TABLE \"esims\" ADD COLUMN \"sealed\" text COLLATE \"C\" DEFAULT '' NOT NULL;",
      "UPDATE \"esims\" SET \"sealed\" = json_build_object('smdp_address', \"smdp_address\", 'matching_id', \"matching_id\", 'confirmation_code', \"confirmation_code\")::text;",
      "ALTER TABLE \"esims\" DROP COLUMN \"smdp_address\";",
      "ALTER TABLE \"esims\" DROP COLUMN \"matching_id\";",
      "ALTER TABLE \"esims\" DROP COLUMN \"confirmation_code\";"
    ]
  },
  {
    "name": "0012_outages_and_history",
    "statements": [
      "CREATE TABLE \"outages\" (\n\t\"kind\" text COLLATE \"C\" NOT NULL,\n\t\"name\" text COLLATE \"C\" NOT NULL,\n\t\"since\" bigint NOT NULL,\n\t\"last_at\" bigint NOT NULL,\n\t\"failures\" bigint NOT NULL,\n\t\"last_error\" text COLLATE \"C\" NOT NULL,\n\tCONSTRAINT \"outages_kind_name_pk\" PRIMARY KEY(\"kind\",\"name\")\n);\n",
      "ALTER TABLE \"audit_entries\" ADD COLUMN \"changes\" text COLLATE \"C\";",
      "ALTER TABLE \"activations\" ADD COLUMN \"created_by\" text COLLATE \"C\";",
      "ALTER TABLE \"orders\" ADD COLUMN \"created_by\" text COLLATE \"C\";"
    ]
  },
  {
    "name": "0013_wallet_and_esim_lists",
    "statements": [
      "ALTER TABLE \"ledger_transactions\" ADD COLUMN \"balance_after_cents\" bigint DEFAULT 0 NOT NULL;",
      "CREATE INDEX \"esims_owned\" ON \"esims\" USING btree (\"partner_id\",\"environment\",\"status\",\"order_id\",\"id\") WHERE \"esims\".\"partner_id\" is not null;",
      "CREATE INDEX \"esims_expiring\" ON \"esims\" USING btree (\"partner_id\",\"environment\",\"status\",\"expires_at\",\"id\") WHERE \"esims\".\"expires_at\" is not null;",
      "CREATE INDEX \"ledger_transactions_wallet\" ON \"ledger_transactions\" USING btree (\"partner_id\",\"currency\",\"created_at\",\"id\");",
      "CREATE INDEX \"ledger_transactions_credit\" ON \"ledger_transactions\" USING btree (\"partner_id\",\"currency\",\"reference\",\"chain_no\") WHERE kind = 'credit';"
    ]
  },
  {
    "name": "0014_thresholds",
    "statements": [
      "CREATE TABLE \"product_changes\" (\n\t\"id\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"at\" bigint NOT NULL,\n\t\"changes\" text COLLATE \"C\" NOT NULL,\n\t\"after_partner\" text COLLATE \"C\" NOT NULL,\n\t\"after_environment\" text COLLATE \"C\" NOT NULL\n);\n",
      "ALTER TABLE \"partners\" ADD COLUMN \"low_wallet\" text COLLATE \"C\";",
      "ALTER TABLE \"partners\" ADD COLUMN \"low_data\" text COLLATE \"C\";",
      "ALTER TABLE \"partners\" ADD COLUMN \"expiry_days\" text COLLATE \"C\";",
      "ALTER TABLE \"esims\" ADD COLUMN \"low_data_percent\" bigint;",
      "ALTER TABLE \"esims\" ADD COLUMN \"expiry_notice\" bigint;",
      "ALTER TABLE \"passports\" ADD COLUMN \"expiry_notice\" text COLLATE \"C\";",
      "ALTER TABLE \"wallets\" ADD COLUMN \"low_at\" bigint;",
      "ALTER TABLE \"wallets\" ADD COLUMN \"restored_at\" bigint;",
      "CREATE INDEX \"passports_expiry_notice\" ON \"passports\" USING btree (\"pool_key\",\"passport_expiry\",\"id\") WHERE expiry_notice is null or expiry_notice <> passport_expiry;"
    ]
  },
  {
    "name": "0015_sealed_people",
    "statements": [
      "CREATE TABLE \"people_index\" (\n\t\"digest\" text COLLATE \"C\" NOT NULL,\n\t\"record_id\" text COLLATE \"C\" NOT NULL,\n\t\"kind\" text COLLATE \"C\" NOT NULL,\n\tCONSTRAINT \"people_index_digest_record_id_pk\" PRIMARY KEY(\"digest\",\"record_id\")\n);\n",
      "CREATE INDEX \"people_index_record\" ON \"people_index\" USING btree (\"record_id\");",
      "DROP INDEX \"orders_email\";",
      "DROP INDEX \"order_items_email\";",
      "DROP INDEX \"activations_email\";",
      "ALTER TABLE \"orders\" RENAME COLUMN \"customer\" TO \"customer_sealed\";",
      "ALTER TABLE \"orders\" DROP COLUMN \"email_key\";",
      "ALTER TABLE \"order_items\" RENAME COLUMN \"traveller\" TO \"traveller_sealed\";",
      "ALTER TABLE \"order_items\" DROP COLUMN \"email_key\";",
      "ALTER TABLE \"activations\" ADD COLUMN \"customer_sealed\" text COLLATE \"C\";",
      "ALTER TABLE \"activations\" ADD COLUMN \"mobile_number_sealed\" text COLLATE \"C\";",
      "UPDATE \"activations\" SET \"customer_sealed\" = json_build_object('customer_name', \"customer_name\", 'customer_email', \"customer_email\", 'customer_phone', \"customer_phone\")::text WHERE \"customer_name\" <> '' OR \"customer_email\" IS NOT NULL OR \"customer_phone\" IS NOT NULL;",
      "UPDATE \"activations\" SET \"mobile_number_sealed\" = json_build_object('mobile_number', \"mobile_number\")::text WHERE \"mobile_number\" IS NOT NULL;",
      "ALTER TABLE \"activations\" DROP COLUMN \"customer_name\";",
      "ALTER TABLE \"activations\" DROP COLUMN \"customer_email\";",
      "ALTER TABLE \"activations\" DROP COLUMN \"email_key\";",
      "ALTER TABLE \"activations\" DROP COLUMN \"customer_phone\";",
      "ALTER TABLE \"activations\" DROP COLUMN \"mobile_number\";",
      "UPDATE \"passports\" SET \"sealed\" = json_build_object('first_name', \"first_name\", 'last_name', \"last_name\", 'title', \"title\", 'sealed', \"sealed\")::text;",
      "ALTER TABLE \"passports\" DROP COLUMN \"first_name\";",
      "ALTER TABLE \"passports\" DROP COLUMN \"last_name\";",
      "ALTER TABLE \"passports\" DROP COLUMN \"title\";",
      "ALTER TABLE \"events\" ADD COLUMN \"sealed\" text COLLATE \"C\";",
      "UPDATE \"events\" SET \"sealed\" = \"data\", \"data\" = '{}' WHERE \"kind\" LIKE 'activation.%' AND \"data\" <> '{}';",
      "CREATE INDEX \"activations_iccid_end\" ON \"activations\" USING btree ((substr(iccid, length(iccid) - 3)),\"id\");",
      "CREATE INDEX \"esims_iccid_end\" ON \"esims\" USING btree ((substr(iccid, length(iccid) - 3)),\"id\");",
      "INSERT INTO \"settings\" (\"key\", \"value\") SELECT 'people', 'clear' WHERE EXISTS (SELECT 1 FROM \"data_keys\");"
    ]
  },
  {
    "name": "0016_guard_rails",
    "statements": [
      "CREATE TABLE \"pauses\" (\n\t\"kind\" text COLLATE \"C\" NOT NULL,\n\t\"name\" text COLLATE \"C\" NOT NULL,\n\t\"reason\" text COLLATE \"C\" NOT NULL,\n\t\"since\" bigint NOT NULL,\n\tCONSTRAINT \"pauses_kind_name_pk\" PRIMARY KEY(\"kind\",\"name\")\n);\n",
      "CREATE TABLE \"credential_spending\" (\n\t\"client_id\" text COLLATE \"C\" NOT NULL,\n\t\"environment\" text COLLATE \"C\" NOT NULL,\n\t\"currency\" text COLLATE \"C\" NOT NULL,\n\t\"day\" text COLLATE \"C\" NOT NULL,\n\t\"spent_cents\" bigint NOT NULL,\n\tCONSTRAINT \"credential_spending_client_id_environment_currency_pk\" PRIMARY KEY(\"client_id\",\"environment\",\"currency\")\n);\n",
      "ALTER TABLE \"credentials\" ADD COLUMN \"allowed_addresses\" text COLLATE \"C\";",
      "ALTER TABLE \"credentials\" ADD COLUMN \"expires_at\" bigint;",
      "ALTER TABLE \"credentials\" ADD COLUMN \"spend_caps\" text COLLATE \"C\";",
      "ALTER TABLE \"credentials\" ADD COLUMN \"guarded_by\" text COLLATE \"C\";",
      "ALTER TABLE \"wallets\" ADD COLUMN \"credit_limit_cents\" bigint DEFAULT 0 NOT NULL;",
      "ALTER TABLE \"wallets\" ADD COLUMN \"credit_used_cents\" bigint DEFAULT 0 NOT NULL;",
      "ALTER TABLE \"credential_spending\" ADD CONSTRAINT \"credential_spending_client_id_credentials_client_id_fk\" FOREIGN KEY (\"client_id\") REFERENCES \"public\".\"credentials\"(\"client_id\") ON DELETE no action ON UPDATE no action;",
      "CREATE INDEX \"credentials_guarded\" ON \"credentials\" USING btree (\"guarded_by\") WHERE guarded_by is not null;"
    ]
  },
  {
    "name": "0017_event_feed",
    "statements": [
      "CREATE TABLE \"event_feeds\" (\n\t\"partner_id\" text COLLATE \"C\" NOT NULL,\n\t\"environment\" text COLLATE \"C\" NOT NULL,\n\t\"last_no\" bigint NOT NULL,\n\t\"dropped_no\" bigint DEFAULT 0 NOT NULL,\n\tCONSTRAINT \"event_feeds_partner_id_environment_pk\" PRIMARY KEY(\"partner_id\",\"environment\")\n);\n",
      "ALTER TABLE \"events\" ADD COLUMN \"feed_no\" bigint;",
      "CREATE UNIQUE INDEX \"events_feed\" ON \"events\" USING btree (\"partner_id\",\"environment\",\"feed_no\");"
    ]
  },
  {
    "name": "0018_sandbox_kit",
    "statements": [
      "CREATE TABLE \"sandbox_clocks\" (\n\t\"partner_id\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"ahead_ms\" bigint NOT NULL\n);\n",
      "ALTER TABLE \"orders\" ADD COLUMN \"ahead_ms\" bigint DEFAULT 0 NOT NULL;",
      "ALTER TABLE \"orders\" ADD COLUMN \"scenario\" text COLLATE \"C\";",
      "ALTER TABLE \"sandbox_clocks\" ADD CONSTRAINT \"sandbox_clocks_partner_id_partners_id_fk\" FOREIGN KEY (\"partner_id\") REFERENCES \"public\".\"partners\"(\"id\") ON DELETE no action ON UPDATE no action;",
      "CREATE INDEX \"orders_sandbox_id\" ON \"orders\" USING btree (\"id\") WHERE environment = 'sandbox';"
    ]
  },
  {
    "name": "0019_sandbox_notices",
    "statements": [
      "ALTER TABLE \"sandbox_clocks\" ADD COLUMN \"notices_through\" bigint;",
      "ALTER TABLE \"event_feeds\" ADD COLUMN \"read_at\" bigint;"
    ]
  },
  {
    "name": "0020_lean_indexes",
    "statements": [
      "DROP INDEX \"esims_order\";",
      "DROP INDEX \"esims_line\";",
      "DROP INDEX \"ledger_postings_account\";",
      "DROP INDEX \"orders_list_status\";",
      "DROP INDEX \"orders_status\";",
      "DROP INDEX \"events_partner\";",
      "CREATE INDEX \"esims_sold\" ON \"esims\" USING btree (\"order_id\",\"id\") WHERE \"esims\".\"order_id\" is not null;",
      "CREATE INDEX \"esims_sold_line\" ON \"esims\" USING btree (\"line_id\",\"id\") WHERE \"esims\".\"line_id\" is not null;",
      "CREATE INDEX \"orders_list_rest\" ON \"orders\" USING btree (\"partner_id\",\"environment\",\"status\",\"created_at\",\"id\") WHERE \"orders\".\"status\" <> 'fulfilled';",
      "CREATE INDEX \"orders_rest\" ON \"orders\" USING btree (\"status\",\"created_at\",\"id\") WHERE \"orders\".\"status\" <> 'fulfilled';"
    ]
  },
  {
    "name": "0021_order_versions",
    "statements": [
      "ALTER TABLE \"orders\" ADD COLUMN \"version\" bigint DEFAULT 0 NOT NULL;"
    ]
  },
  {
    "name": "0023_rate_windows",
    "statements": [
      "CREATE TABLE \"rate_windows\" (\n\t\"minute\" bigint NOT NULL,\n\t\"id\" text COLLATE \"C\" NOT NULL,\n\t\"used\" bigint NOT NULL,\n\t\"held\" bigint NOT NULL,\n\t\"allowed\" bigint NOT NULL,\n\t\"ahead\" bigint NOT NULL,\n\tCONSTRAINT \"rate_windows_minute_id_pk\" PRIMARY KEY(\"minute\",\"id\")\n);\n"
    ]
  },
  {
    "name": "0024_alerts_and_failing_endpoints",
    "statements": [
      "CREATE TABLE \"alert_targets\" (\n\t\"id\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"channel\" text COLLATE \"C\" NOT NULL,\n\t\"address_sealed\" text COLLATE \"C\" NOT NULL,\n\t\"address_key\" text COLLATE \"C\" NOT NULL,\n\t\"secret_sealed\" text COLLATE \"C\",\n\t\"kinds\" text COLLATE \"C\",\n\t\"due_at\" bigint,\n\t\"leased_until\" bigint,\n\t\"lease_no\" bigint DEFAULT 0 NOT NULL,\n\t\"failed_attempts\" bigint NOT NULL,\n\t\"last_sent_at\" bigint,\n\t\"last_at\" bigint,\n\t\"last_error\" text COLLATE \"C\",\n\t\"created_at\" bigint NOT NULL,\n\t\"updated_at\" bigint NOT NULL,\n\tCONSTRAINT \"alert_targets_address\" UNIQUE(\"address_key\")\n);\n",
      "CREATE TABLE \"alerts\" (\n\t\"id\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"kind\" text COLLATE \"C\" NOT NULL,\n\t\"subject\" text COLLATE \"C\" NOT NULL,\n\t\"detail\" text COLLATE \"C\" NOT NULL,\n\t\"raised_at\" bigint NOT NULL,\n\t\"over_at\" bigint\n);\n",
      "CREATE TABLE \"alert_notices\" (\n\t\"id\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"target_id\" text COLLATE \"C\" NOT NULL,\n\t\"alert_id\" text COLLATE \"C\",\n\t\"state\" text COLLATE \"C\" NOT NULL,\n\t\"at\" bigint NOT NULL,\n\t\"detail\" text COLLATE \"C\" NOT NULL,\n\t\"sent_at\" bigint,\n\t\"given_up_at\" bigint\n);\n",
      "ALTER TABLE \"cron_runs\" ADD COLUMN \"failing_since\" bigint;",
      "ALTER TABLE \"products\" ADD COLUMN \"low_stock\" bigint;",
      "ALTER TABLE \"webhook_endpoints\" ADD COLUMN \"failed_attempts\" bigint DEFAULT 0 NOT NULL;",
      "ALTER TABLE \"webhook_endpoints\" ADD COLUMN \"failing_since\" bigint;",
      "ALTER TABLE \"webhook_endpoints\" ADD COLUMN \"cut_attempts\" bigint DEFAULT 0 NOT NULL;",
      "ALTER TABLE \"webhook_endpoints\" ADD COLUMN \"waits_until\" bigint;",
      "ALTER TABLE \"alert_notices\" ADD CONSTRAINT \"alert_notices_target_id_alert_targets_id_fk\" FOREIGN KEY (\"target_id\") REFERENCES \"public\".\"alert_targets\"(\"id\") ON DELETE no action ON UPDATE no action;",
      "ALTER TABLE \"alert_notices\" ADD CONSTRAINT \"alert_notices_alert_id_alerts_id_fk\" FOREIGN KEY (\"alert_id\") REFERENCES \"public\".\"alerts\"(\"id\") ON DELETE no action ON UPDATE no action;",
      "CREATE INDEX \"alert_targets_due\" ON \"alert_targets\" USING btree (\"due_at\",\"id\");",
      "CREATE UNIQUE INDEX \"alerts_raised\" ON \"alerts\" USING btree (\"kind\",\"subject\") WHERE over_at is null;",
      "CREATE INDEX \"alerts_over\" ON \"alerts\" USING btree (\"over_at\",\"id\") WHERE over_at is not null;",
      "CREATE INDEX \"alert_notices_waiting\" ON \"alert_notices\" USING btree (\"target_id\",\"id\") WHERE sent_at is null and given_up_at is null;",
      "CREATE INDEX \"alert_notices_target\" ON \"alert_notices\" USING btree (\"target_id\",\"id\");",
      "CREATE INDEX \"alert_notices_alert\" ON \"alert_notices\" USING btree (\"alert_id\",\"target_id\");",
      "CREATE INDEX \"products_low_stock\" ON \"products\" USING btree (\"sku\") WHERE low_stock is not null;",
      "CREATE INDEX \"webhook_endpoints_failing\" ON \"webhook_endpoints\" USING btree (\"failing_since\",\"id\") WHERE (failing_since is not null or status = 'failed');"
    ]
  },
  {
    "name": "0025_line_refunds",
    "statements": [
      "ALTER TABLE \"order_lines\" ADD COLUMN \"refunded_cents\" bigint DEFAULT 0 NOT NULL;"
    ]
  },
  {
    "name": "0026_no_identity",
    "statements": [
      "ALTER TABLE \"credentials\" ADD COLUMN \"no_identity\" bigint DEFAULT 0 NOT NULL;"
    ]
  },
  {
    "name": "0027_orders_external",
    "statements": [
      "CREATE INDEX \"orders_external\" ON \"orders\" USING btree (\"partner_id\",\"environment\",\"external_order_id\",\"created_at\",\"id\") WHERE external_order_id is not null;"
    ]
  },
  {
    "name": "0028_suspended_reason",
    "statements": [
      "ALTER TABLE \"partners\" ADD COLUMN \"suspended_reason\" text COLLATE \"C\";"
    ]
  },
  {
    "name": "0029_activations_date",
    "statements": [
      "CREATE INDEX \"activations_date\" ON \"activations\" USING btree (\"partner_id\",\"environment\",\"activation_date\",\"id\");"
    ]
  },
  {
    "name": "0030_when_short",
    "statements": [
      "ALTER TABLE \"products\" ADD COLUMN \"when_short\" text COLLATE \"C\";",
      "CREATE INDEX \"products_when_short\" ON \"products\" USING btree (\"sku\") WHERE when_short = 'out_of_stock';"
    ]
  },
  {
    "name": "0031_requests_together",
    "statements": [
      "ALTER TABLE \"partners\" ADD COLUMN \"max_requests_per_minute\" bigint;"
    ]
  },
  {
    "name": "0032_partner_support",
    "statements": [
      "ALTER TABLE \"partners\" ADD COLUMN \"support\" text COLLATE \"C\";"
    ]
  },
  {
    "name": "0033_funding_requests",
    "statements": [
      "CREATE TABLE \"funding_requests\" (\n\t\"id\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"reference\" text COLLATE \"C\" NOT NULL,\n\t\"partner_id\" text COLLATE \"C\" NOT NULL,\n\t\"amount_cents\" bigint NOT NULL,\n\t\"currency\" text COLLATE \"C\" NOT NULL,\n\t\"status\" text COLLATE \"C\" NOT NULL,\n\t\"requested_by\" text COLLATE \"C\" NOT NULL,\n\t\"created_at\" bigint NOT NULL,\n\t\"settled_at\" bigint,\n\t\"transaction_id\" text COLLATE \"C\"\n);\n",
      "ALTER TABLE \"funding_requests\" ADD CONSTRAINT \"funding_requests_partner_id_partners_id_fk\" FOREIGN KEY (\"partner_id\") REFERENCES \"public\".\"partners\"(\"id\") ON DELETE no action ON UPDATE no action;",
      "CREATE UNIQUE INDEX \"funding_requests_reference\" ON \"funding_requests\" USING btree (\"reference\");",
      "CREATE INDEX \"funding_requests_partner\" ON \"funding_requests\" USING btree (\"partner_id\",\"created_at\",\"id\");",
      "CREATE INDEX \"funding_requests_created\" ON \"funding_requests\" USING btree (\"created_at\",\"id\");",
      "CREATE INDEX \"funding_requests_open\" ON \"funding_requests\" USING btree (\"partner_id\",\"id\") WHERE status = 'requested';"
    ]
  },
  {
    "name": "0034_accounts",
    "statements": [
      "CREATE TABLE \"refused_requests\" (\n\t\"id\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"partner_id\" text COLLATE \"C\" NOT NULL,\n\t\"environment\" text COLLATE \"C\" NOT NULL,\n\t\"client_id\" text COLLATE \"C\" NOT NULL,\n\t\"method\" text COLLATE \"C\" NOT NULL,\n\t\"route\" text COLLATE \"C\" NOT NULL,\n\t\"status\" bigint NOT NULL,\n\t\"problem\" text COLLATE \"C\" NOT NULL,\n\t\"request_id\" text COLLATE \"C\" NOT NULL,\n\t\"at\" bigint NOT NULL\n);\n",
      "CREATE TABLE \"users\" (\n\t\"id\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"sealed\" text COLLATE \"C\" NOT NULL,\n\t\"email_index\" text COLLATE \"C\" NOT NULL,\n\t\"status\" text COLLATE \"C\" NOT NULL,\n\t\"staff_role\" text COLLATE \"C\",\n\t\"reveal\" bigint NOT NULL,\n\t\"password_hash\" text COLLATE \"C\",\n\t\"created_at\" bigint NOT NULL,\n\t\"updated_at\" bigint NOT NULL\n);\n",
      "CREATE TABLE \"memberships\" (\n\t\"user_id\" text COLLATE \"C\" NOT NULL,\n\t\"partner_id\" text COLLATE \"C\" NOT NULL,\n\t\"role\" text COLLATE \"C\" NOT NULL,\n\t\"created_at\" bigint NOT NULL,\n\t\"accepted_at\" bigint,\n\tCONSTRAINT \"memberships_user_id_partner_id_pk\" PRIMARY KEY(\"user_id\",\"partner_id\")\n);\n",
      "CREATE TABLE \"user_factors\" (\n\t\"id\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"user_id\" text COLLATE \"C\" NOT NULL,\n\t\"kind\" text COLLATE \"C\" NOT NULL,\n\t\"label\" text COLLATE \"C\",\n\t\"sealed\" text COLLATE \"C\" NOT NULL,\n\t\"credential_id\" text COLLATE \"C\",\n\t\"used_no\" bigint NOT NULL,\n\t\"created_at\" bigint NOT NULL,\n\t\"confirmed_at\" bigint\n);\n",
      "CREATE TABLE \"invitations\" (\n\t\"id\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"token_hash\" text COLLATE \"C\" NOT NULL,\n\t\"user_id\" text COLLATE \"C\" NOT NULL,\n\t\"partner_id\" text COLLATE \"C\",\n\t\"expires_at\" bigint NOT NULL,\n\t\"created_at\" bigint NOT NULL,\n\t\"token_sealed\" text COLLATE \"C\",\n\t\"due_at\" bigint,\n\t\"leased_until\" bigint,\n\t\"lease_no\" bigint DEFAULT 0 NOT NULL,\n\t\"failed_attempts\" bigint NOT NULL,\n\tCONSTRAINT \"invitations_waiting\" CHECK ((token_sealed is null) = (due_at is null))\n);\n",
      "CREATE TABLE \"sessions\" (\n\t\"id\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"token_hash\" text COLLATE \"C\" NOT NULL,\n\t\"user_id\" text COLLATE \"C\" NOT NULL,\n\t\"partner_id\" text COLLATE \"C\",\n\t\"environment\" text COLLATE \"C\" NOT NULL,\n\t\"view_as\" text COLLATE \"C\",\n\t\"agent\" text COLLATE \"C\" NOT NULL,\n\t\"challenge\" text COLLATE \"C\",\n\t\"factor_at\" bigint,\n\t\"created_at\" bigint NOT NULL,\n\t\"seen_at\" bigint NOT NULL\n);\n",
      "CREATE TABLE \"sign_in_failures\" (\n\t\"mark\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"failures\" bigint NOT NULL,\n\t\"since\" bigint NOT NULL,\n\t\"blocked_until\" bigint\n);\n",
      "CREATE TABLE \"form_keys\" (\n\t\"id\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"used_at\" bigint NOT NULL\n);\n",
      "ALTER TABLE \"partners\" ADD COLUMN \"factor_required\" bigint DEFAULT 0 NOT NULL;",
      "ALTER TABLE \"memberships\" ADD CONSTRAINT \"memberships_user_id_users_id_fk\" FOREIGN KEY (\"user_id\") REFERENCES \"public\".\"users\"(\"id\") ON DELETE no action ON UPDATE no action;",
      "ALTER TABLE \"memberships\" ADD CONSTRAINT \"memberships_partner_id_partners_id_fk\" FOREIGN KEY (\"partner_id\") REFERENCES \"public\".\"partners\"(\"id\") ON DELETE no action ON UPDATE no action;",
      "ALTER TABLE \"user_factors\" ADD CONSTRAINT \"user_factors_user_id_users_id_fk\" FOREIGN KEY (\"user_id\") REFERENCES \"public\".\"users\"(\"id\") ON DELETE no action ON UPDATE no action;",
      "ALTER TABLE \"invitations\" ADD CONSTRAINT \"invitations_user_id_users_id_fk\" FOREIGN KEY (\"user_id\") REFERENCES \"public\".\"users\"(\"id\") ON DELETE no action ON UPDATE no action;",
      "ALTER TABLE \"sessions\" ADD CONSTRAINT \"sessions_user_id_users_id_fk\" FOREIGN KEY (\"user_id\") REFERENCES \"public\".\"users\"(\"id\") ON DELETE no action ON UPDATE no action;",
      "CREATE INDEX \"refused_requests_owner\" ON \"refused_requests\" USING btree (\"partner_id\",\"environment\",\"id\");",
      "CREATE UNIQUE INDEX \"users_email\" ON \"users\" USING btree (\"email_index\");",
      "CREATE INDEX \"users_created\" ON \"users\" USING btree (\"created_at\",\"id\");",
      "CREATE INDEX \"memberships_partner\" ON \"memberships\" USING btree (\"partner_id\",\"user_id\");",
      "CREATE INDEX \"user_factors_user\" ON \"user_factors\" USING btree (\"user_id\",\"id\");",
      "CREATE UNIQUE INDEX \"user_factors_passkey\" ON \"user_factors\" USING btree (\"credential_id\") WHERE credential_id is not null;",
      "CREATE UNIQUE INDEX \"invitations_token\" ON \"invitations\" USING btree (\"token_hash\");",
      "CREATE INDEX \"invitations_user\" ON \"invitations\" USING btree (\"user_id\");",
      "CREATE INDEX \"invitations_expiry\" ON \"invitations\" USING btree (\"expires_at\");",
      "CREATE INDEX \"invitations_due\" ON \"invitations\" USING btree (\"due_at\",\"id\");",
      "CREATE UNIQUE INDEX \"sessions_token\" ON \"sessions\" USING btree (\"token_hash\");",
      "CREATE INDEX \"sessions_user\" ON \"sessions\" USING btree (\"user_id\",\"id\");",
      "CREATE INDEX \"sessions_partner\" ON \"sessions\" USING btree (\"partner_id\");",
      "CREATE INDEX \"sessions_seen\" ON \"sessions\" USING btree (\"seen_at\");",
      "CREATE INDEX \"sessions_created\" ON \"sessions\" USING btree (\"created_at\");",
      "CREATE INDEX \"sign_in_failures_since\" ON \"sign_in_failures\" USING btree (\"since\");",
      "CREATE INDEX \"form_keys_used\" ON \"form_keys\" USING btree (\"used_at\");"
    ]
  },
  {
    "name": "0035_supply",
    "statements": [
      "CREATE TABLE \"supplier_tokens\" (\n\t\"supplier\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"token_sealed\" text COLLATE \"C\" NOT NULL,\n\t\"expires_at\" bigint NOT NULL\n);\n",
      "CREATE TABLE \"supplier_limits\" (\n\t\"supplier\" text COLLATE \"C\" NOT NULL,\n\t\"bucket\" text COLLATE \"C\" NOT NULL,\n\t\"window_at\" bigint NOT NULL,\n\t\"used\" bigint NOT NULL,\n\t\"blocked_until\" bigint NOT NULL,\n\tCONSTRAINT \"supplier_limits_supplier_bucket_pk\" PRIMARY KEY(\"supplier\",\"bucket\")\n);\n",
      "CREATE TABLE \"supplier_holds\" (\n\t\"supplier\" text COLLATE \"C\" NOT NULL,\n\t\"plan\" text COLLATE \"C\" NOT NULL,\n\t\"holder\" text COLLATE \"C\" NOT NULL,\n\t\"since\" bigint NOT NULL,\n\tCONSTRAINT \"supplier_holds_supplier_plan_pk\" PRIMARY KEY(\"supplier\",\"plan\")\n);\n",
      "CREATE TABLE \"circuits\" (\n\t\"supplier\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"state\" text COLLATE \"C\" NOT NULL,\n\t\"since\" bigint NOT NULL,\n\t\"reason\" text COLLATE \"C\",\n\t\"failures\" bigint NOT NULL,\n\t\"openings\" bigint NOT NULL,\n\t\"probe_at\" bigint\n);\n",
      "CREATE TABLE \"product_sources\" (\n\t\"product_id\" text COLLATE \"C\" NOT NULL,\n\t\"supplier\" text COLLATE \"C\" NOT NULL,\n\t\"supplier_sku\" text COLLATE \"C\" NOT NULL,\n\t\"days\" bigint,\n\t\"priority\" bigint NOT NULL,\n\t\"cost\" bigint,\n\t\"currency\" text COLLATE \"C\",\n\t\"price_cents\" bigint,\n\t\"synced\" bigint NOT NULL,\n\t\"status\" text COLLATE \"C\" NOT NULL,\n\t\"created_at\" bigint NOT NULL,\n\t\"updated_at\" bigint NOT NULL,\n\tCONSTRAINT \"product_sources_product_id_supplier_pk\" PRIMARY KEY(\"product_id\",\"supplier\")\n);\n",
      "CREATE TABLE \"price_lists\" (\n\t\"name\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"created_at\" bigint NOT NULL,\n\t\"updated_at\" bigint NOT NULL\n);\n",
      "CREATE TABLE \"price_rules\" (\n\t\"id\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"list\" text COLLATE \"C\" NOT NULL,\n\t\"product_id\" text COLLATE \"C\",\n\t\"region_key\" text COLLATE \"C\",\n\t\"region\" text COLLATE \"C\",\n\t\"price_cents\" bigint,\n\t\"markup_points\" bigint,\n\t\"min_quantity\" bigint NOT NULL,\n\t\"from_day\" text COLLATE \"C\",\n\t\"to_day\" text COLLATE \"C\",\n\t\"created_at\" bigint NOT NULL\n);\n",
      "CREATE TABLE \"fx_rates\" (\n\t\"from_currency\" text COLLATE \"C\" NOT NULL,\n\t\"to_currency\" text COLLATE \"C\" NOT NULL,\n\t\"day\" text COLLATE \"C\" NOT NULL,\n\t\"rate\" text COLLATE \"C\" NOT NULL,\n\t\"created_at\" bigint NOT NULL,\n\tCONSTRAINT \"fx_rates_from_currency_to_currency_day_pk\" PRIMARY KEY(\"from_currency\",\"to_currency\",\"day\")\n);\n",
      "CREATE TABLE \"costs\" (\n\t\"id\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"kind\" text COLLATE \"C\" NOT NULL,\n\t\"account\" text COLLATE \"C\" NOT NULL,\n\t\"supplier\" text COLLATE \"C\",\n\t\"units\" bigint NOT NULL,\n\t\"currency\" text COLLATE \"C\" NOT NULL,\n\t\"cost\" bigint NOT NULL,\n\t\"cost_cents\" bigint NOT NULL,\n\t\"partner_id\" text COLLATE \"C\" NOT NULL,\n\t\"order_id\" text COLLATE \"C\",\n\t\"line_id\" text COLLATE \"C\",\n\t\"item_id\" text COLLATE \"C\",\n\t\"topup_id\" text COLLATE \"C\",\n\t\"esim_id\" text COLLATE \"C\",\n\t\"reference\" text COLLATE \"C\",\n\t\"created_at\" bigint NOT NULL\n);\n",
      "CREATE TABLE \"topups\" (\n\t\"id\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"partner_id\" text COLLATE \"C\" NOT NULL,\n\t\"environment\" text COLLATE \"C\" NOT NULL,\n\t\"esim_id\" text COLLATE \"C\" NOT NULL,\n\t\"iccid\" text COLLATE \"C\" NOT NULL,\n\t\"order_id\" text COLLATE \"C\" NOT NULL,\n\t\"product_id\" text COLLATE \"C\" NOT NULL,\n\t\"product_sku\" text COLLATE \"C\" NOT NULL,\n\t\"status\" text COLLATE \"C\" NOT NULL,\n\t\"price_cents\" bigint NOT NULL,\n\t\"currency\" text COLLATE \"C\" NOT NULL,\n\t\"wallet_balance_after_cents\" bigint NOT NULL,\n\t\"key\" text COLLATE \"C\" NOT NULL,\n\t\"payload_hash\" text COLLATE \"C\" NOT NULL,\n\t\"supplier\" text COLLATE \"C\",\n\t\"supplier_sku\" text COLLATE \"C\",\n\t\"days\" bigint,\n\t\"cost\" bigint,\n\t\"cost_currency\" text COLLATE \"C\",\n\t\"fx_rate\" text COLLATE \"C\",\n\t\"memory\" text COLLATE \"C\",\n\t\"attempts\" bigint NOT NULL,\n\t\"due_at\" bigint,\n\t\"leased_until\" bigint,\n\t\"lease_no\" bigint DEFAULT 0 NOT NULL,\n\t\"scenario\" text COLLATE \"C\",\n\t\"reason\" text COLLATE \"C\",\n\t\"request_id\" text COLLATE \"C\",\n\t\"created_by\" text COLLATE \"C\",\n\t\"created_at\" bigint NOT NULL,\n\t\"applied_at\" bigint,\n\t\"updated_at\" bigint NOT NULL\n);\n",
      "CREATE TABLE \"esim_returns\" (\n\t\"id\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"esim_id\" text COLLATE \"C\" NOT NULL,\n\t\"kind\" text COLLATE \"C\" NOT NULL,\n\t\"outcome\" text COLLATE \"C\" NOT NULL,\n\t\"amount_cents\" bigint NOT NULL,\n\t\"currency\" text COLLATE \"C\" NOT NULL,\n\t\"detail\" text COLLATE \"C\",\n\t\"reference\" text COLLATE \"C\",\n\t\"actor\" text COLLATE \"C\" NOT NULL,\n\t\"created_at\" bigint NOT NULL\n);\n",
      "DROP INDEX \"esims_iccid_real\";",
      "ALTER TABLE \"partners\" ADD COLUMN \"price_list\" text COLLATE \"C\";",
      "ALTER TABLE \"products\" ADD COLUMN \"purpose\" text COLLATE \"C\" DEFAULT 'plan' NOT NULL;",
      "ALTER TABLE \"products\" ADD COLUMN \"sourced\" bigint DEFAULT 0 NOT NULL;",
      "ALTER TABLE \"products\" ADD COLUMN \"cost\" bigint;",
      "ALTER TABLE \"products\" ADD COLUMN \"cost_currency\" text COLLATE \"C\";",
      "ALTER TABLE \"products\" ADD COLUMN \"held\" text COLLATE \"C\";",
      "ALTER TABLE \"esims\" ADD COLUMN \"supplier\" text COLLATE \"C\";",
      "ALTER TABLE \"esims\" ADD COLUMN \"supplier_ref\" text COLLATE \"C\";",
      "ALTER TABLE \"esims\" ADD COLUMN \"cost\" bigint;",
      "ALTER TABLE \"esims\" ADD COLUMN \"cost_currency\" text COLLATE \"C\";",
      "ALTER TABLE \"esims\" ADD COLUMN \"install_state\" text COLLATE \"C\";",
      "ALTER TABLE \"esims\" ADD COLUMN \"look_at\" bigint;",
      "ALTER TABLE \"esims\" ADD COLUMN \"retired_at\" bigint;",
      "ALTER TABLE \"order_lines\" ADD COLUMN \"cost\" bigint;",
      "ALTER TABLE \"order_lines\" ADD COLUMN \"cost_currency\" text COLLATE \"C\";",
      "ALTER TABLE \"order_lines\" ADD COLUMN \"fx_rate\" text COLLATE \"C\";",
      "ALTER TABLE \"order_lines\" ADD COLUMN \"price_list\" text COLLATE \"C\";",
      "ALTER TABLE \"order_items\" ADD COLUMN \"supplier_sku\" text COLLATE \"C\";",
      "ALTER TABLE \"order_items\" ADD COLUMN \"days\" bigint;",
      "ALTER TABLE \"order_items\" ADD COLUMN \"cost\" bigint;",
      "ALTER TABLE \"order_items\" ADD COLUMN \"cost_currency\" text COLLATE \"C\";",
      "ALTER TABLE \"order_items\" ADD COLUMN \"routed\" text COLLATE \"C\";",
      "ALTER TABLE \"order_items\" ADD COLUMN \"refused_by\" text COLLATE \"C\";",
      "ALTER TABLE \"order_items\" ADD COLUMN \"memory\" text COLLATE \"C\";",
      "ALTER TABLE \"item_attempts\" ADD COLUMN \"supplier\" text COLLATE \"C\";",
      "ALTER TABLE \"suppliers\" ADD COLUMN \"callback_sealed\" text COLLATE \"C\";",
      "ALTER TABLE \"suppliers\" ADD COLUMN \"markup_points\" bigint;",
      "ALTER TABLE \"suppliers\" ADD COLUMN \"sku_prefix\" text COLLATE \"C\";",
      "ALTER TABLE \"suppliers\" ADD COLUMN \"synced_at\" bigint;",
      "ALTER TABLE \"suppliers\" ADD COLUMN \"balance\" bigint;",
      "ALTER TABLE \"suppliers\" ADD COLUMN \"balance_currency\" text COLLATE \"C\";",
      "ALTER TABLE \"suppliers\" ADD COLUMN \"balance_at\" bigint;",
      "ALTER TABLE \"suppliers\" ADD COLUMN \"low_balance\" bigint;",
      "ALTER TABLE \"product_sources\" ADD CONSTRAINT \"product_sources_product_id_products_id_fk\" FOREIGN KEY (\"product_id\") REFERENCES \"public\".\"products\"(\"id\") ON DELETE no action ON UPDATE no action;",
      "ALTER TABLE \"price_rules\" ADD CONSTRAINT \"price_rules_list_price_lists_name_fk\" FOREIGN KEY (\"list\") REFERENCES \"public\".\"price_lists\"(\"name\") ON DELETE no action ON UPDATE no action;",
      "ALTER TABLE \"topups\" ADD CONSTRAINT \"topups_esim_id_esims_id_fk\" FOREIGN KEY (\"esim_id\") REFERENCES \"public\".\"esims\"(\"id\") ON DELETE no action ON UPDATE no action;",
      "ALTER TABLE \"esim_returns\" ADD CONSTRAINT \"esim_returns_esim_id_esims_id_fk\" FOREIGN KEY (\"esim_id\") REFERENCES \"public\".\"esims\"(\"id\") ON DELETE no action ON UPDATE no action;",
      "CREATE INDEX \"product_sources_supplier\" ON \"product_sources\" USING btree (\"supplier\",\"supplier_sku\",\"product_id\");",
      "CREATE INDEX \"price_rules_product\" ON \"price_rules\" USING btree (\"list\",\"product_id\",\"id\") WHERE product_id is not null;",
      "CREATE INDEX \"price_rules_region\" ON \"price_rules\" USING btree (\"list\",\"region_key\",\"id\") WHERE region_key is not null;",
      "CREATE INDEX \"costs_supplier\" ON \"costs\" USING btree (\"supplier\",\"created_at\",\"id\") WHERE supplier is not null;",
      "CREATE INDEX \"costs_order\" ON \"costs\" USING btree (\"order_id\",\"id\");",
      "CREATE UNIQUE INDEX \"costs_item\" ON \"costs\" USING btree (\"item_id\") WHERE kind = 'purchase' and item_id is not null;",
      "CREATE UNIQUE INDEX \"costs_topup\" ON \"costs\" USING btree (\"topup_id\") WHERE kind = 'topup';",
      "CREATE UNIQUE INDEX \"costs_given_back\" ON \"costs\" USING btree (\"esim_id\") WHERE kind = 'refund';",
      "CREATE UNIQUE INDEX \"topups_key\" ON \"topups\" USING btree (\"partner_id\",\"environment\",\"key\");",
      "CREATE INDEX \"topups_esim\" ON \"topups\" USING btree (\"esim_id\",\"created_at\",\"id\");",
      "CREATE INDEX \"topups_due\" ON \"topups\" USING btree (\"due_at\",\"id\") WHERE due_at is not null;",
      "CREATE INDEX \"topups_due_supplier\" ON \"topups\" USING btree (\"supplier\",\"due_at\",\"id\") WHERE due_at is not null;",
      "CREATE INDEX \"topups_open\" ON \"topups\" USING btree (\"created_at\",\"id\") WHERE status = 'paid';",
      "CREATE INDEX \"esim_returns_esim\" ON \"esim_returns\" USING btree (\"esim_id\",\"created_at\",\"id\");",
      "CREATE UNIQUE INDEX \"esim_returns_refunded\" ON \"esim_returns\" USING btree (\"esim_id\") WHERE kind = 'refund' and outcome = 'done';",
      "CREATE INDEX \"esims_supplied\" ON \"esims\" USING btree (\"supplier_ref\",\"supplier\",\"id\") WHERE supplier_ref is not null;",
      "CREATE INDEX \"esims_look\" ON \"esims\" USING btree (\"supplier\",\"look_at\",\"id\") WHERE look_at is not null;",
      "CREATE UNIQUE INDEX \"esims_iccid_real\" ON \"esims\" USING btree (\"iccid\") WHERE (\"esims\".\"environment\" is null or \"esims\".\"environment\" = 'production') and \"esims\".\"retired_at\" is null;"
    ]
  },
  {
    "name": "0036_passports_by_expiry",
    "statements": [
      "CREATE INDEX \"passports_list_expiry\" ON \"passports\" USING btree (\"partner_id\",\"environment\",\"pool_key\",\"passport_expiry\",\"id\");"
    ]
  },
  {
    "name": "0037_traveler_mails",
    "statements": [
      "CREATE TABLE \"traveler_mails\" (\n\t\"id\" text COLLATE \"C\" PRIMARY KEY NOT NULL,\n\t\"esim_id\" text COLLATE \"C\" NOT NULL,\n\t\"partner_id\" text COLLATE \"C\" NOT NULL,\n\t\"to_customer\" bigint NOT NULL,\n\t\"address_sealed\" text COLLATE \"C\",\n\t\"masked\" text COLLATE \"C\" NOT NULL,\n\t\"status\" text COLLATE \"C\" NOT NULL,\n\t\"due_at\" bigint,\n\t\"leased_until\" bigint,\n\t\"lease_no\" bigint DEFAULT 0 NOT NULL,\n\t\"failed_attempts\" bigint NOT NULL,\n\t\"reason\" text COLLATE \"C\",\n\t\"created_by\" text COLLATE \"C\" NOT NULL,\n\t\"created_at\" bigint NOT NULL,\n\t\"ended_at\" bigint,\n\tCONSTRAINT \"traveler_mails_ended\" CHECK ((status = 'waiting') = (due_at is not null) and (status = 'waiting' or address_sealed is null))\n);\n",
      "ALTER TABLE \"traveler_mails\" ADD CONSTRAINT \"traveler_mails_esim_id_esims_id_fk\" FOREIGN KEY (\"esim_id\") REFERENCES \"public\".\"esims\"(\"id\") ON DELETE no action ON UPDATE no action;",
      "CREATE INDEX \"traveler_mails_esim\" ON \"traveler_mails\" USING btree (\"esim_id\",\"created_at\",\"id\");",
      "CREATE INDEX \"traveler_mails_due\" ON \"traveler_mails\" USING btree (\"due_at\",\"id\") WHERE due_at is not null;"
    ]
  }
];
