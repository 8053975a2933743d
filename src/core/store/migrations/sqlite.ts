// Made by `npm run migration`; a migration that was released is never changed.
import type { Migration } from "./migration.ts";

export const migrations: Migration[] = [
  {
    "name": "0001_initial",
    "statements": [
      "CREATE TABLE `settings` (\n\t`key` text PRIMARY KEY NOT NULL,\n\t`value` text NOT NULL\n);\n",
      "CREATE TABLE `data_keys` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`purpose` text NOT NULL,\n\t`wrapped` text NOT NULL,\n\t`created_at` integer NOT NULL,\n\t`retired_at` integer\n);\n",
      "CREATE TABLE `audit_entries` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`at` integer NOT NULL,\n\t`actor` text NOT NULL,\n\t`action` text NOT NULL,\n\t`target_kind` text NOT NULL,\n\t`target_id` text NOT NULL,\n\t`partner_id` text,\n\t`fields` text,\n\t`note` text,\n\t`request_id` text\n);\n",
      "CREATE INDEX `audit_entries_at` ON `audit_entries` (`at`,`id`);",
      "CREATE INDEX `audit_entries_target` ON `audit_entries` (`target_id`,`at`,`id`);",
      "CREATE INDEX `audit_entries_partner` ON `audit_entries` (`partner_id`,`at`,`id`);",
      "CREATE INDEX `audit_entries_request` ON `audit_entries` (`request_id`,`id`) WHERE request_id is not null;",
      "CREATE TABLE `request_counts` (\n\t`minute` integer PRIMARY KEY NOT NULL,\n\t`requests` integer NOT NULL,\n\t`failed` integer NOT NULL\n);\n",
      "CREATE TABLE `cron_runs` (\n\t`job` text PRIMARY KEY NOT NULL,\n\t`started_at` integer NOT NULL,\n\t`took_ms` integer NOT NULL,\n\t`done` integer NOT NULL,\n\t`error` text\n);\n",
      "CREATE TABLE `partners` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`slug` text NOT NULL,\n\t`name` text NOT NULL,\n\t`status` text NOT NULL,\n\t`tier` text NOT NULL,\n\t`rate_limit` integer,\n\t`agent` integer NOT NULL,\n\t`production` integer NOT NULL,\n\t`created_at` integer NOT NULL,\n\t`updated_at` integer NOT NULL\n);\n",
      "CREATE UNIQUE INDEX `partners_slug` ON `partners` (`slug`);",
      "CREATE TABLE `credentials` (\n\t`client_id` text PRIMARY KEY NOT NULL,\n\t`partner_id` text NOT NULL,\n\t`environment` text NOT NULL,\n\t`secret_hash` text NOT NULL,\n\t`scopes` text NOT NULL,\n\t`label` text,\n\t`created_at` integer NOT NULL,\n\t`rotated_at` integer,\n\t`revoked_at` integer,\n\tFOREIGN KEY (`partner_id`) REFERENCES `partners`(`id`) ON UPDATE no action ON DELETE no action\n);\n",
      "CREATE INDEX `credentials_partner` ON `credentials` (`partner_id`,`created_at`,`client_id`);",
      "CREATE TABLE `signing_keys` (\n\t`kid` text PRIMARY KEY NOT NULL,\n\t`public_jwk` text NOT NULL,\n\t`private_sealed` text NOT NULL,\n\t`created_at` integer NOT NULL,\n\t`retired_at` integer\n);\n",
      "CREATE TABLE `products` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`sku` text NOT NULL,\n\t`name` text NOT NULL,\n\t`description` text,\n\t`region` text NOT NULL,\n\t`coverage` text NOT NULL,\n\t`data_amount_mb` integer NOT NULL,\n\t`validity_days` integer NOT NULL,\n\t`price_cents` integer NOT NULL,\n\t`currency` text NOT NULL,\n\t`type` text NOT NULL,\n\t`status` text NOT NULL,\n\t`product_type` text NOT NULL,\n\t`delivery_method` text NOT NULL,\n\t`supplier` text,\n\t`features` text,\n\t`activation_policy` text,\n\t`network_type` text,\n\t`compatible_devices` text,\n\t`created_at` integer NOT NULL,\n\t`updated_at` integer NOT NULL\n);\n",
      "CREATE UNIQUE INDEX `products_sku` ON `products` (`sku`);",
      "CREATE INDEX `products_status_created` ON `products` (`status`,`created_at`,`id`);",
      "CREATE INDEX `products_status_price` ON `products` (`status`,`price_cents`,`id`);",
      "CREATE INDEX `products_status_name` ON `products` (`status`,`name`,`id`);",
      "CREATE INDEX `products_status_region` ON `products` (`status`,`region`,`created_at`,`id`);",
      "CREATE TABLE `stock_pools` (\n\t`product_id` text PRIMARY KEY NOT NULL,\n\t`available` integer NOT NULL,\n\tFOREIGN KEY (`product_id`) REFERENCES `products`(`id`) ON UPDATE no action ON DELETE no action\n);\n",
      "CREATE TABLE `esims` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`iccid` text NOT NULL,\n\t`product_id` text NOT NULL,\n\t`order_id` text,\n\t`line_id` text,\n\t`partner_id` text,\n\t`environment` text,\n\t`eid` text,\n\t`smdp_address` text NOT NULL,\n\t`matching_id` text NOT NULL,\n\t`confirmation_code` text,\n\t`status` text NOT NULL,\n\t`status_at` integer,\n\t`created_at` integer NOT NULL,\n\t`assigned_at` integer,\n\t`activated_at` integer,\n\t`expires_at` integer,\n\t`used_mb` integer,\n\t`total_mb` integer,\n\t`usage_at` integer,\n\t`country` text,\n\t`network` text,\n\t`location_at` integer,\n\tFOREIGN KEY (`product_id`) REFERENCES `products`(`id`) ON UPDATE no action ON DELETE no action\n);\n",
      "CREATE UNIQUE INDEX `esims_iccid_real` ON `esims` (`iccid`) WHERE \"esims\".\"environment\" is null or \"esims\".\"environment\" = 'production';",
      "CREATE INDEX `esims_iccid` ON `esims` (`iccid`);",
      "CREATE INDEX `esims_order` ON `esims` (`order_id`,`id`);",
      "CREATE INDEX `esims_line` ON `esims` (`line_id`,`id`);",
      "CREATE INDEX `esims_expiry` ON `esims` (`status`,`expires_at`,`id`) WHERE \"esims\".\"expires_at\" is not null;",
      "CREATE INDEX `esims_stock` ON `esims` (`product_id`,`id`) WHERE \"esims\".\"order_id\" is null;",
      "CREATE TABLE `carriers` (\n\t`prefix` text PRIMARY KEY NOT NULL,\n\t`name` text NOT NULL,\n\t`region` text NOT NULL,\n\t`brand` text NOT NULL,\n\t`required_fields` text NOT NULL,\n\t`adapter` text NOT NULL,\n\t`url` text,\n\t`secret_sealed` text,\n\t`timeout_ms` integer NOT NULL,\n\t`answer_within_ms` integer NOT NULL,\n\t`created_at` integer NOT NULL,\n\t`updated_at` integer NOT NULL\n);\n",
      "CREATE TABLE `activations` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`partner_id` text NOT NULL,\n\t`environment` text NOT NULL,\n\t`iccid` text NOT NULL,\n\t`carrier_prefix` text NOT NULL,\n\t`carrier` text NOT NULL,\n\t`activation_date` text NOT NULL,\n\t`customer_name` text NOT NULL,\n\t`customer_email` text,\n\t`email_key` text,\n\t`customer_phone` text,\n\t`plan_name` text,\n\t`note` text,\n\t`sealed` text,\n\t`passport_index` text,\n\t`passport_id` text,\n\t`status` text NOT NULL,\n\t`processing_status` text NOT NULL,\n\t`processing_mode` text NOT NULL,\n\t`mobile_number` text,\n\t`confirmation_number` text,\n\t`error_type` text,\n\t`error_message` text,\n\t`cancel_reason` text,\n\t`not_before` integer NOT NULL,\n\t`due_at` integer,\n\t`leased_until` integer,\n\t`faults` integer NOT NULL,\n\t`exchanges` integer NOT NULL,\n\t`deadline_at` integer,\n\t`queued_at` integer,\n\t`created_at` integer NOT NULL,\n\t`updated_at` integer NOT NULL,\n\t`submitted_at` integer,\n\t`confirmed_at` integer,\n\t`activated_at` integer,\n\t`cancelled_at` integer,\n\t`finished_at` integer,\n\t`request_id` text,\n\tFOREIGN KEY (`partner_id`) REFERENCES `partners`(`id`) ON UPDATE no action ON DELETE no action\n);\n",
      "CREATE UNIQUE INDEX `activations_holder` ON `activations` (`iccid`) WHERE status in ('pending', 'processing', 'completed') or processing_status = 'manual_required';",
      "CREATE INDEX `activations_iccid` ON `activations` (`iccid`,`created_at`,`id`);",
      "CREATE INDEX `activations_list` ON `activations` (`partner_id`,`environment`,`created_at`,`id`);",
      "CREATE INDEX `activations_list_status` ON `activations` (`partner_id`,`environment`,`status`,`created_at`,`id`);",
      "CREATE INDEX `activations_list_iccid` ON `activations` (`partner_id`,`environment`,`iccid`,`created_at`,`id`);",
      "CREATE INDEX `activations_pickup` ON `activations` (`status`,`due_at`,`activation_date`,`id`);",
      "CREATE INDEX `activations_exchange` ON `activations` (`carrier_prefix`,`status`,`due_at`,`id`);",
      "CREATE INDEX `activations_queue` ON `activations` (`queued_at`,`id`);",
      "CREATE INDEX `activations_queue_carrier` ON `activations` (`carrier_prefix`,`queued_at`,`id`);",
      "CREATE INDEX `activations_passport` ON `activations` (`passport_index`,`id`);",
      "CREATE INDEX `activations_email` ON `activations` (`email_key`,`id`) WHERE email_key is not null;",
      "CREATE INDEX `activations_request` ON `activations` (`request_id`,`id`);",
      "CREATE INDEX `activations_finished` ON `activations` (`finished_at`,`id`) WHERE sealed is not null;",
      "CREATE TABLE `activation_attempts` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`at` integer NOT NULL,\n\t`source` text NOT NULL,\n\t`outcome` text NOT NULL,\n\t`status_code` integer,\n\t`latency_ms` integer,\n\t`answer` text,\n\t`request_id` text,\n\t`activation_id` text NOT NULL,\n\tFOREIGN KEY (`activation_id`) REFERENCES `activations`(`id`) ON UPDATE no action ON DELETE no action\n);\n",
      "CREATE INDEX `activation_attempts_of` ON `activation_attempts` (`activation_id`,`at`,`id`);",
      "CREATE INDEX `activation_attempts_request` ON `activation_attempts` (`request_id`,`id`) WHERE request_id is not null;",
      "CREATE TABLE `passports` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`partner_id` text NOT NULL,\n\t`environment` text NOT NULL,\n\t`first_name` text NOT NULL,\n\t`last_name` text NOT NULL,\n\t`title` text,\n\t`passport_country` text NOT NULL,\n\t`passport_expiry` text NOT NULL,\n\t`reference` text,\n\t`sealed` text NOT NULL,\n\t`number_index` text NOT NULL,\n\t`verification` text NOT NULL,\n\t`rejection` text,\n\t`onshore` integer NOT NULL,\n\t`drawable` integer NOT NULL,\n\t`use_count` integer NOT NULL,\n\t`assigned_request_id` text,\n\t`pool_key` text NOT NULL,\n\t`withdrawn_at` integer,\n\t`created_at` integer NOT NULL,\n\t`updated_at` integer NOT NULL,\n\tFOREIGN KEY (`partner_id`) REFERENCES `partners`(`id`) ON UPDATE no action ON DELETE no action\n);\n",
      "CREATE UNIQUE INDEX `passports_number` ON `passports` (`number_index`,`partner_id`,`environment`,`passport_country`,`pool_key`);",
      "CREATE INDEX `passports_list` ON `passports` (`partner_id`,`environment`,`pool_key`,`created_at`,`id`);",
      "CREATE INDEX `passports_queue` ON `passports` (`pool_key`,`verification`,`created_at`,`id`);",
      "CREATE INDEX `passports_draw` ON `passports` (`partner_id`,`environment`,`drawable`,`use_count`,`id`);",
      "CREATE INDEX `passports_expiry` ON `passports` (`passport_expiry`,`id`);",
      "CREATE INDEX `passports_withdrawn` ON `passports` (`withdrawn_at`,`id`);",
      "CREATE TABLE `passport_uses` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`passport_id` text NOT NULL,\n\t`brand` text NOT NULL,\n\t`request_id` text NOT NULL,\n\t`carrier` text NOT NULL,\n\t`actor` text NOT NULL,\n\t`drawn_at` integer NOT NULL,\n\t`released_at` integer\n);\n",
      "CREATE INDEX `passport_uses_passport` ON `passport_uses` (`passport_id`,`brand`,`released_at`);",
      "CREATE INDEX `passport_uses_request` ON `passport_uses` (`request_id`,`id`);",
      "CREATE TABLE `wallets` (\n\t`partner_id` text NOT NULL,\n\t`currency` text NOT NULL,\n\t`balance_cents` integer NOT NULL,\n\t`last_transaction_at` integer,\n\tPRIMARY KEY(`partner_id`, `currency`),\n\tFOREIGN KEY (`partner_id`) REFERENCES `partners`(`id`) ON UPDATE no action ON DELETE no action,\n\tCONSTRAINT \"wallets_not_negative\" CHECK(\"wallets\".\"balance_cents\" >= 0)\n);\n",
      "CREATE TABLE `ledger_transactions` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`kind` text NOT NULL,\n\t`partner_id` text NOT NULL,\n\t`order_id` text,\n\t`currency` text NOT NULL,\n\t`amount_cents` integer NOT NULL,\n\t`reference` text,\n\t`created_at` integer NOT NULL,\n\tFOREIGN KEY (`partner_id`) REFERENCES `partners`(`id`) ON UPDATE no action ON DELETE no action\n);\n",
      "CREATE INDEX `ledger_transactions_partner` ON `ledger_transactions` (`partner_id`,`created_at`,`id`);",
      "CREATE INDEX `ledger_transactions_order` ON `ledger_transactions` (`order_id`,`id`);",
      "CREATE TABLE `ledger_postings` (\n\t`transaction_id` text NOT NULL,\n\t`account` text NOT NULL,\n\t`currency` text NOT NULL,\n\t`amount_cents` integer NOT NULL,\n\tPRIMARY KEY(`transaction_id`, `account`),\n\tFOREIGN KEY (`transaction_id`) REFERENCES `ledger_transactions`(`id`) ON UPDATE no action ON DELETE no action\n);\n",
      "CREATE INDEX `ledger_postings_account` ON `ledger_postings` (`account`,`currency`);",
      "CREATE TABLE `orders` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`order_number` text NOT NULL,\n\t`partner_id` text NOT NULL,\n\t`environment` text NOT NULL,\n\t`status` text NOT NULL,\n\t`currency` text NOT NULL,\n\t`total_cents` integer NOT NULL,\n\t`quantity` integer NOT NULL,\n\t`product_id` text NOT NULL,\n\t`product_sku` text NOT NULL,\n\t`unit_price_cents` integer NOT NULL,\n\t`metadata` text NOT NULL,\n\t`wallet_balance_after_cents` integer,\n\t`external_order_id` text,\n\t`customer` text,\n\t`email_key` text,\n\t`request_id` text,\n\t`created_at` integer NOT NULL,\n\t`updated_at` integer NOT NULL,\n\t`fulfilled_at` integer,\n\t`cancelled_at` integer,\n\t`reason` text,\n\t`due_at` integer,\n\t`leased_until` integer,\n\t`reserved` integer NOT NULL,\n\tFOREIGN KEY (`partner_id`) REFERENCES `partners`(`id`) ON UPDATE no action ON DELETE no action\n);\n",
      "CREATE UNIQUE INDEX `orders_number` ON `orders` (`order_number`);",
      "CREATE INDEX `orders_list` ON `orders` (`partner_id`,`environment`,`created_at`,`id`);",
      "CREATE INDEX `orders_list_status` ON `orders` (`partner_id`,`environment`,`status`,`created_at`,`id`);",
      "CREATE INDEX `orders_status` ON `orders` (`status`,`created_at`,`id`);",
      "CREATE INDEX `orders_due` ON `orders` (`due_at`,`id`);",
      "CREATE INDEX `orders_email` ON `orders` (`email_key`,`id`) WHERE email_key is not null;",
      "CREATE INDEX `orders_request` ON `orders` (`request_id`,`id`);",
      "CREATE TABLE `order_lines` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`order_id` text NOT NULL,\n\t`position` integer NOT NULL,\n\t`product_id` text NOT NULL,\n\t`product_name` text NOT NULL,\n\t`product_sku` text NOT NULL,\n\t`product_type` text NOT NULL,\n\t`delivery_method` text NOT NULL,\n\t`supplier` text,\n\t`quantity` integer NOT NULL,\n\t`unit_price_cents` integer NOT NULL,\n\t`status` text NOT NULL,\n\t`assigned` integer NOT NULL,\n\t`shipping` text,\n\tFOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action,\n\tFOREIGN KEY (`product_id`) REFERENCES `products`(`id`) ON UPDATE no action ON DELETE no action\n);\n",
      "CREATE UNIQUE INDEX `order_lines_order` ON `order_lines` (`order_id`,`position`);",
      "CREATE INDEX `order_lines_to_ship` ON `order_lines` (`order_id`,`position`) WHERE \"order_lines\".\"delivery_method\" = 'shipping' and \"order_lines\".\"status\" = 'pending';",
      "CREATE TABLE `idempotency_keys` (\n\t`partner_id` text NOT NULL,\n\t`environment` text NOT NULL,\n\t`space` text NOT NULL,\n\t`key` text NOT NULL,\n\t`payload_hash` text NOT NULL,\n\t`order_id` text NOT NULL,\n\tPRIMARY KEY(`partner_id`, `environment`, `space`, `key`),\n\tFOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action\n);\n",
      "CREATE TABLE `order_items` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`order_id` text NOT NULL,\n\t`line_id` text NOT NULL,\n\t`position` integer NOT NULL,\n\t`quantity` integer NOT NULL,\n\t`traveller` text,\n\t`email_key` text,\n\t`status` text NOT NULL,\n\t`supplier` text NOT NULL,\n\t`confirmation_number` text,\n\t`error_type` text,\n\t`error_message` text,\n\t`attempts` integer NOT NULL,\n\t`due_at` integer,\n\t`leased_until` integer,\n\t`deadline_at` integer,\n\t`submitted_at` integer,\n\t`confirmed_at` integer,\n\t`activated_at` integer,\n\t`cancelled_at` integer,\n\t`created_at` integer NOT NULL,\n\t`updated_at` integer NOT NULL,\n\tFOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action,\n\tFOREIGN KEY (`line_id`) REFERENCES `order_lines`(`id`) ON UPDATE no action ON DELETE no action\n);\n",
      "CREATE UNIQUE INDEX `order_items_order` ON `order_items` (`order_id`,`position`);",
      "CREATE INDEX `order_items_line` ON `order_items` (`line_id`,`position`);",
      "CREATE INDEX `order_items_due` ON `order_items` (`due_at`,`id`);",
      "CREATE INDEX `order_items_deadline` ON `order_items` (`deadline_at`,`id`);",
      "CREATE INDEX `order_items_email` ON `order_items` (`email_key`,`id`) WHERE email_key is not null;",
      "CREATE TABLE `item_attempts` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`at` integer NOT NULL,\n\t`source` text NOT NULL,\n\t`outcome` text NOT NULL,\n\t`status_code` integer,\n\t`latency_ms` integer,\n\t`answer` text,\n\t`request_id` text,\n\t`item_id` text NOT NULL,\n\tFOREIGN KEY (`item_id`) REFERENCES `order_items`(`id`) ON UPDATE no action ON DELETE no action\n);\n",
      "CREATE INDEX `item_attempts_of` ON `item_attempts` (`item_id`,`at`,`id`);",
      "CREATE INDEX `item_attempts_request` ON `item_attempts` (`request_id`,`id`) WHERE request_id is not null;",
      "CREATE TABLE `suppliers` (\n\t`name` text PRIMARY KEY NOT NULL,\n\t`adapter` text NOT NULL,\n\t`url` text,\n\t`secret_sealed` text,\n\t`to_address` text,\n\t`template` text,\n\t`created_at` integer NOT NULL,\n\t`updated_at` integer NOT NULL\n);\n",
      "CREATE TABLE `events` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`kind` text NOT NULL,\n\t`partner_id` text NOT NULL,\n\t`environment` text NOT NULL,\n\t`subject_id` text NOT NULL,\n\t`occurred_at` integer NOT NULL,\n\t`data` text NOT NULL,\n\t`expands` text\n);\n",
      "CREATE INDEX `events_partner` ON `events` (`partner_id`,`environment`,`occurred_at`,`id`);",
      "CREATE INDEX `events_subject` ON `events` (`subject_id`,`id`);",
      "CREATE TABLE `webhook_endpoints` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`partner_id` text NOT NULL,\n\t`environment` text NOT NULL,\n\t`url` text NOT NULL,\n\t`events` text NOT NULL,\n\t`status` text NOT NULL,\n\t`description` text,\n\t`secret_sealed` text NOT NULL,\n\t`next_secret_sealed` text,\n\t`next_secret_from` integer,\n\t`consecutive_failures` integer NOT NULL,\n\t`due_at` integer,\n\t`last_event` text,\n\t`last_event_id` text,\n\t`last_status_code` integer,\n\t`last_at` integer,\n\t`created_at` integer NOT NULL,\n\t`updated_at` integer NOT NULL,\n\tFOREIGN KEY (`partner_id`) REFERENCES `partners`(`id`) ON UPDATE no action ON DELETE no action\n);\n",
      "CREATE INDEX `webhook_endpoints_list` ON `webhook_endpoints` (`partner_id`,`environment`,`created_at`,`id`);",
      "CREATE INDEX `webhook_endpoints_due` ON `webhook_endpoints` (`due_at`,`id`);",
      "CREATE TABLE `deliveries` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`event_id` text NOT NULL,\n\t`endpoint_id` text NOT NULL,\n\t`status` text NOT NULL,\n\t`attempts` integer NOT NULL,\n\t`due_at` integer NOT NULL,\n\t`leased_until` integer,\n\t`created_at` integer NOT NULL,\n\tFOREIGN KEY (`event_id`) REFERENCES `events`(`id`) ON UPDATE no action ON DELETE no action\n);\n",
      "CREATE UNIQUE INDEX `deliveries_event` ON `deliveries` (`event_id`,`endpoint_id`);",
      "CREATE INDEX `deliveries_queue` ON `deliveries` (`endpoint_id`,`due_at`,`id`) WHERE \"deliveries\".\"status\" = 'pending';",
      "CREATE INDEX `deliveries_retries` ON `deliveries` (`endpoint_id`,`due_at`,`id`) WHERE \"deliveries\".\"status\" = 'pending' and \"deliveries\".\"attempts\" > 0;",
      "CREATE INDEX `deliveries_endpoint` ON `deliveries` (`endpoint_id`,`id`);",
      "CREATE INDEX `deliveries_stuck_endpoint` ON `deliveries` (`endpoint_id`,`id`) WHERE \"deliveries\".\"status\" in ('exhausted', 'held');",
      "CREATE INDEX `deliveries_stuck` ON `deliveries` (`id`) WHERE \"deliveries\".\"status\" in ('exhausted', 'held');",
      "CREATE INDEX `deliveries_held` ON `deliveries` (`id`) WHERE \"deliveries\".\"status\" = 'held';",
      "CREATE TABLE `delivery_attempts` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`delivery_id` text NOT NULL,\n\t`at` integer NOT NULL,\n\t`status_code` integer,\n\t`latency_ms` integer NOT NULL,\n\t`error` text,\n\t`response_body` text,\n\tFOREIGN KEY (`delivery_id`) REFERENCES `deliveries`(`id`) ON UPDATE no action ON DELETE no action\n);\n",
      "CREATE INDEX `delivery_attempts_delivery` ON `delivery_attempts` (`delivery_id`,`id`);"
    ]
  },
  {
    "name": "0002_order_refunds",
    "statements": [
      "ALTER TABLE `orders` ADD `refunded_cents` integer DEFAULT 0 NOT NULL;"
    ]
  },
  {
    "name": "0003_product_keys",
    "statements": [
      "DROP INDEX `products_status_region`;",
      "ALTER TABLE `products` ADD `region_key` text DEFAULT '' NOT NULL;",
      "ALTER TABLE `products` ADD `coverage_key` text DEFAULT '' NOT NULL;",
      "CREATE INDEX `products_status_region_key` ON `products` (`status`,`region_key`,`created_at`,`id`);"
    ]
  },
  {
    "name": "0004_order_line_owners",
    "statements": [
      "ALTER TABLE `order_lines` ADD `partner_id` text DEFAULT '' NOT NULL;",
      "ALTER TABLE `order_lines` ADD `environment` text DEFAULT '' NOT NULL;",
      "ALTER TABLE `order_lines` ADD `created_at` integer DEFAULT 0 NOT NULL;",
      "CREATE INDEX `order_lines_product` ON `order_lines` (`partner_id`,`environment`,`product_id`,`created_at`,`order_id`);"
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
      "ALTER TABLE `orders` ADD `lease_no` integer DEFAULT 0 NOT NULL CONSTRAINT \"orders_ended\" CHECK(status in ('pending_payment', 'paid', 'waiting_review') or (due_at is null and leased_until is null));",
      "ALTER TABLE `order_items` ADD `lease_no` integer DEFAULT 0 NOT NULL CONSTRAINT \"order_items_ended\" CHECK(status in ('pending', 'submitted', 'confirmed') or (due_at is null and leased_until is null and deadline_at is null));",
      "ALTER TABLE `activations` ADD `lease_no` integer DEFAULT 0 NOT NULL CONSTRAINT \"activations_ended\" CHECK(status in ('pending', 'processing') or (due_at is null and leased_until is null and deadline_at is null));",
      "ALTER TABLE `deliveries` ADD `lease_no` integer DEFAULT 0 NOT NULL;",
      "DROP INDEX `activations_pickup`;",
      "DROP INDEX `activations_exchange`;",
      "DROP INDEX `orders_due`;",
      "DROP INDEX `order_items_due`;",
      "CREATE INDEX `activations_due` ON `activations` (`due_at`,`id`) WHERE due_at is not null;",
      "CREATE INDEX `activations_pickup` ON `activations` (`due_at`,`activation_date`,`id`) WHERE status = 'pending';",
      "CREATE INDEX `activations_exchange` ON `activations` (`carrier_prefix`,`due_at`,`id`) WHERE status = 'processing' and due_at is not null;",
      "CREATE INDEX `activations_deadline` ON `activations` (`deadline_at`,`id`) WHERE deadline_at is not null;",
      "CREATE INDEX `orders_due` ON `orders` (`due_at`,`id`) WHERE due_at is not null;",
      "CREATE INDEX `orders_due_partner` ON `orders` (`environment`,`partner_id`,`due_at`,`id`) WHERE due_at is not null;",
      "CREATE INDEX `order_items_due` ON `order_items` (`due_at`,`id`) WHERE due_at is not null;",
      "CREATE INDEX `order_items_due_supplier` ON `order_items` (`supplier`,`due_at`,`id`) WHERE due_at is not null;",
      "CREATE INDEX `webhook_endpoints_due_partner` ON `webhook_endpoints` (`environment`,`partner_id`,`due_at`,`id`) WHERE due_at is not null;"
    ]
  },
  {
    "name": "0006_callbacks_and_transport",
    "statements": [
      "CREATE TABLE `callback_signatures` (\n\t`signature` text PRIMARY KEY NOT NULL,\n\t`expires_at` integer NOT NULL\n);\n",
      "CREATE INDEX `callback_signatures_expiry` ON `callback_signatures` (`expires_at`);",
      "ALTER TABLE `carriers` ADD `insecure` integer DEFAULT 0 NOT NULL;",
      "ALTER TABLE `suppliers` ADD `insecure` integer DEFAULT 0 NOT NULL;"
    ]
  },
  {
    "name": "0007_sandbox_units",
    "statements": [
      "ALTER TABLE `orders` ADD `first_unit` integer;",
      "CREATE UNIQUE INDEX `orders_first_unit` ON `orders` (`first_unit`) WHERE first_unit is not null;",
      "CREATE INDEX `orders_sandbox` ON `orders` (`created_at`,`id`) WHERE environment = 'sandbox';",
      "CREATE INDEX `esims_sandbox` ON `esims` (`id`) WHERE environment = 'sandbox';",
      "CREATE INDEX `idempotency_keys_order` ON `idempotency_keys` (`order_id`);"
    ]
  },
  {
    "name": "0008_partner_limits",
    "statements": [
      "ALTER TABLE `partners` ADD `max_endpoints` integer;",
      "ALTER TABLE `partners` ADD `max_pool` integer;",
      "ALTER TABLE `partners` ADD `max_open_activations` integer;",
      "ALTER TABLE `partners` ADD `max_sandbox_activations` integer;",
      "ALTER TABLE `partners` ADD `max_pending_deliveries` integer;",
      "ALTER TABLE `partners` ADD `max_days_ahead` integer;",
      "ALTER TABLE `partners` ADD `sandbox_activations` integer DEFAULT 1 NOT NULL;",
      "ALTER TABLE `deliveries` ADD `held_reason` text;",
      "CREATE INDEX `activations_open` ON `activations` (`partner_id`,`environment`) WHERE status in ('pending', 'processing') or processing_status = 'manual_required';"
    ]
  },
  {
    "name": "0009_activations_by_environment",
    "statements": [
      "DROP INDEX `activations_pickup`;",
      "DROP INDEX `activations_exchange`;",
      "CREATE INDEX `activations_pickup` ON `activations` (`environment`,`due_at`,`activation_date`,`id`) WHERE status = 'pending';",
      "CREATE INDEX `activations_exchange` ON `activations` (`environment`,`carrier_prefix`,`due_at`,`id`) WHERE status = 'processing' and due_at is not null;"
    ]
  },
  {
    "name": "0010_evidence_chains",
    "statements": [
      "CREATE TABLE `chain_heads` (\n\t`chain` text PRIMARY KEY NOT NULL,\n\t`chain_count` integer DEFAULT 0 NOT NULL,\n\t`chain_hash` text,\n\t`chain_mark` text,\n\t`signed_count` integer DEFAULT 0 NOT NULL\n);\n",
      "CREATE TABLE `signed_heads` (\n\t`chain` text NOT NULL,\n\t`count` integer NOT NULL,\n\t`hash` text NOT NULL,\n\t`previous_count` integer NOT NULL,\n\t`signed_at` integer NOT NULL,\n\t`kid` text NOT NULL,\n\t`signature` text NOT NULL,\n\tPRIMARY KEY(`chain`, `count`)\n);\n",
      "DROP INDEX `audit_entries_partner`;",
      "ALTER TABLE `audit_entries` ADD `chain` text;",
      "ALTER TABLE `audit_entries` ADD `chain_no` integer;",
      "ALTER TABLE `audit_entries` ADD `hash` text;",
      "CREATE UNIQUE INDEX `audit_entries_chain` ON `audit_entries` (`chain`,`chain_no`);",
      "CREATE INDEX `audit_entries_chain_at` ON `audit_entries` (`chain`,`at`);",
      "ALTER TABLE `wallets` ADD `chain_count` integer DEFAULT 0 NOT NULL;",
      "ALTER TABLE `wallets` ADD `chain_hash` text;",
      "ALTER TABLE `wallets` ADD `chain_mark` text;",
      "ALTER TABLE `wallets` ADD `signed_count` integer DEFAULT 0 NOT NULL;",
      "ALTER TABLE `ledger_transactions` ADD `chain_no` integer;",
      "ALTER TABLE `ledger_transactions` ADD `hash` text;",
      "CREATE UNIQUE INDEX `ledger_transactions_chain` ON `ledger_transactions` (`partner_id`,`currency`,`chain_no`);"
    ]
  },
  {
    "name": "0011_esim_codes",
    "statements": [
      "ALTER TABLE `esims` ADD `sealed` text DEFAULT '' NOT NULL;",
      "UPDATE `esims` SET `sealed` = json_object('smdp_address', `smdp_address`, 'matching_id', `matching_id`, 'confirmation_code', `confirmation_code`);",
      "ALTER TABLE `esims` DROP COLUMN `smdp_address`;",
      "ALTER TABLE `esims` DROP COLUMN `matching_id`;",
      "ALTER TABLE `esims` DROP COLUMN `confirmation_code`;"
    ]
  },
  {
    "name": "0012_outages_and_history",
    "statements": [
      "CREATE TABLE `outages` (\n\t`kind` text NOT NULL,\n\t`name` text NOT NULL,\n\t`since` integer NOT NULL,\n\t`last_at` integer NOT NULL,\n\t`failures` integer NOT NULL,\n\t`last_error` text NOT NULL,\n\tPRIMARY KEY(`kind`, `name`)\n);\n",
      "ALTER TABLE `audit_entries` ADD `changes` text;",
      "ALTER TABLE `activations` ADD `created_by` text;",
      "ALTER TABLE `orders` ADD `created_by` text;"
    ]
  },
  {
    "name": "0013_wallet_and_esim_lists",
    "statements": [
      "ALTER TABLE `ledger_transactions` ADD `balance_after_cents` integer DEFAULT 0 NOT NULL;",
      "CREATE INDEX `ledger_transactions_wallet` ON `ledger_transactions` (`partner_id`,`currency`,`created_at`,`id`);",
      "CREATE INDEX `ledger_transactions_credit` ON `ledger_transactions` (`partner_id`,`currency`,`reference`,`chain_no`) WHERE kind = 'credit';",
      "CREATE INDEX `esims_owned` ON `esims` (`partner_id`,`environment`,`status`,`order_id`,`id`) WHERE \"esims\".\"partner_id\" is not null;",
      "CREATE INDEX `esims_expiring` ON `esims` (`partner_id`,`environment`,`status`,`expires_at`,`id`) WHERE \"esims\".\"expires_at\" is not null;"
    ]
  },
  {
    "name": "0014_thresholds",
    "statements": [
      "CREATE TABLE `product_changes` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`at` integer NOT NULL,\n\t`changes` text NOT NULL,\n\t`after_partner` text NOT NULL,\n\t`after_environment` text NOT NULL\n);\n",
      "ALTER TABLE `partners` ADD `low_wallet` text;",
      "ALTER TABLE `partners` ADD `low_data` text;",
      "ALTER TABLE `partners` ADD `expiry_days` text;",
      "ALTER TABLE `esims` ADD `low_data_percent` integer;",
      "ALTER TABLE `esims` ADD `expiry_notice` integer;",
      "ALTER TABLE `passports` ADD `expiry_notice` text;",
      "CREATE INDEX `passports_expiry_notice` ON `passports` (`pool_key`,`passport_expiry`,`id`) WHERE expiry_notice is null or expiry_notice <> passport_expiry;",
      "ALTER TABLE `wallets` ADD `low_at` integer;",
      "ALTER TABLE `wallets` ADD `restored_at` integer;"
    ]
  },
  {
    "name": "0015_sealed_people",
    "statements": [
      "CREATE TABLE `people_index` (\n\t`digest` text NOT NULL,\n\t`record_id` text NOT NULL,\n\t`kind` text NOT NULL,\n\tPRIMARY KEY(`digest`, `record_id`)\n) WITHOUT ROWID;\n",
      "CREATE INDEX `people_index_record` ON `people_index` (`record_id`);",
      "DROP INDEX `orders_email`;",
      "DROP INDEX `order_items_email`;",
      "DROP INDEX `activations_email`;",
      "ALTER TABLE `orders` RENAME COLUMN `customer` TO `customer_sealed`;",
      "ALTER TABLE `orders` DROP COLUMN `email_key`;",
      "ALTER TABLE `order_items` RENAME COLUMN `traveller` TO `traveller_sealed`;",
      "ALTER TABLE `order_items` DROP COLUMN `email_key`;",
      "ALTER TABLE `activations` ADD `customer_sealed` text;",
      "ALTER TABLE `activations` ADD `mobile_number_sealed` text;",
      "UPDATE `activations` SET `customer_sealed` = json_object('customer_name', `customer_name`, 'customer_email', `customer_email`, 'customer_phone', `customer_phone`) WHERE `customer_name` <> '' OR `customer_email` IS NOT NULL OR `customer_phone` IS NOT NULL;",
      "UPDATE `activations` SET `mobile_number_sealed` = json_object('mobile_number', `mobile_number`) WHERE `mobile_number` IS NOT NULL;",
      "ALTER TABLE `activations` DROP COLUMN `customer_name`;",
      "ALTER TABLE `activations` DROP COLUMN `customer_email`;",
      "ALTER TABLE `activations` DROP COLUMN `email_key`;",
      "ALTER TABLE `activations` DROP COLUMN `customer_phone`;",
      "ALTER TABLE `activations` DROP COLUMN `mobile_number`;",
      "UPDATE `passports` SET `sealed` = json_object('first_name', `first_name`, 'last_name', `last_name`, 'title', `title`, 'sealed', `sealed`);",
      "ALTER TABLE `passports` DROP COLUMN `first_name`;",
      "ALTER TABLE `passports` DROP COLUMN `last_name`;",
      "ALTER TABLE `passports` DROP COLUMN `title`;",
      "ALTER TABLE `events` ADD `sealed` text;",
      "UPDATE `events` SET `sealed` = `data`, `data` = '{}' WHERE `kind` LIKE 'activation.%' AND `data` <> '{}';",
      "CREATE INDEX `activations_iccid_end` ON `activations` ((substr(iccid, length(iccid) - 3)),`id`);",
      "CREATE INDEX `esims_iccid_end` ON `esims` ((substr(iccid, length(iccid) - 3)),`id`);",
      "INSERT INTO `settings` (`key`, `value`) SELECT 'people', 'clear' WHERE EXISTS (SELECT 1 FROM `data_keys`);"
    ]
  },
  {
    "name": "0016_guard_rails",
    "statements": [
      "CREATE TABLE `pauses` (\n\t`kind` text NOT NULL,\n\t`name` text NOT NULL,\n\t`reason` text NOT NULL,\n\t`since` integer NOT NULL,\n\tPRIMARY KEY(`kind`, `name`)\n);\n",
      "CREATE TABLE `credential_spending` (\n\t`client_id` text NOT NULL,\n\t`environment` text NOT NULL,\n\t`currency` text NOT NULL,\n\t`day` text NOT NULL,\n\t`spent_cents` integer NOT NULL,\n\tPRIMARY KEY(`client_id`, `environment`, `currency`),\n\tFOREIGN KEY (`client_id`) REFERENCES `credentials`(`client_id`) ON UPDATE no action ON DELETE no action\n);\n",
      "ALTER TABLE `credentials` ADD `allowed_addresses` text;",
      "ALTER TABLE `credentials` ADD `expires_at` integer;",
      "ALTER TABLE `credentials` ADD `spend_caps` text;",
      "ALTER TABLE `credentials` ADD `guarded_by` text;",
      "CREATE INDEX `credentials_guarded` ON `credentials` (`guarded_by`) WHERE guarded_by is not null;",
      "ALTER TABLE `wallets` ADD `credit_limit_cents` integer DEFAULT 0 NOT NULL;",
      "ALTER TABLE `wallets` ADD `credit_used_cents` integer DEFAULT 0 NOT NULL;"
    ]
  },
  {
    "name": "0017_event_feed",
    "statements": [
      "CREATE TABLE `event_feeds` (\n\t`partner_id` text NOT NULL,\n\t`environment` text NOT NULL,\n\t`last_no` integer NOT NULL,\n\t`dropped_no` integer DEFAULT 0 NOT NULL,\n\tPRIMARY KEY(`partner_id`, `environment`)\n);\n",
      "ALTER TABLE `events` ADD `feed_no` integer;",
      "CREATE UNIQUE INDEX `events_feed` ON `events` (`partner_id`,`environment`,`feed_no`);"
    ]
  },
  {
    "name": "0018_sandbox_kit",
    "statements": [
      "CREATE TABLE `sandbox_clocks` (\n\t`partner_id` text PRIMARY KEY NOT NULL,\n\t`ahead_ms` integer NOT NULL,\n\tFOREIGN KEY (`partner_id`) REFERENCES `partners`(`id`) ON UPDATE no action ON DELETE no action\n);\n",
      "ALTER TABLE `orders` ADD `ahead_ms` integer DEFAULT 0 NOT NULL;",
      "ALTER TABLE `orders` ADD `scenario` text;",
      "CREATE INDEX `orders_sandbox_id` ON `orders` (`id`) WHERE environment = 'sandbox';"
    ]
  },
  {
    "name": "0019_sandbox_notices",
    "statements": [
      "ALTER TABLE `sandbox_clocks` ADD `notices_through` integer;",
      "ALTER TABLE `event_feeds` ADD `read_at` integer;"
    ]
  },
  {
    "name": "0020_lean_indexes",
    "statements": [
      "DROP INDEX `esims_order`;",
      "DROP INDEX `esims_line`;",
      "CREATE INDEX `esims_sold` ON `esims` (`order_id`,`id`) WHERE \"esims\".\"order_id\" is not null;",
      "CREATE INDEX `esims_sold_line` ON `esims` (`line_id`,`id`) WHERE \"esims\".\"line_id\" is not null;",
      "DROP INDEX `ledger_postings_account`;",
      "DROP INDEX `orders_list_status`;",
      "DROP INDEX `orders_status`;",
      "CREATE INDEX `orders_list_rest` ON `orders` (`partner_id`,`environment`,`status`,`created_at`,`id`) WHERE \"orders\".\"status\" <> 'fulfilled';",
      "CREATE INDEX `orders_rest` ON `orders` (`status`,`created_at`,`id`) WHERE \"orders\".\"status\" <> 'fulfilled';",
      "DROP INDEX `events_partner`;"
    ]
  },
  {
    "name": "0021_order_versions",
    "statements": [
      "ALTER TABLE `orders` ADD `version` integer DEFAULT 0 NOT NULL;"
    ]
  },
  {
    "name": "0023_rate_windows",
    "statements": [
      "CREATE TABLE `rate_windows` (\n\t`minute` integer NOT NULL,\n\t`id` text NOT NULL,\n\t`used` integer NOT NULL,\n\t`held` integer NOT NULL,\n\t`allowed` integer NOT NULL,\n\t`ahead` integer NOT NULL,\n\tPRIMARY KEY(`minute`, `id`)\n);\n"
    ]
  },
  {
    "name": "0024_alerts_and_failing_endpoints",
    "statements": [
      "CREATE TABLE `alert_targets` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`channel` text NOT NULL,\n\t`address_sealed` text NOT NULL,\n\t`address_key` text NOT NULL,\n\t`secret_sealed` text,\n\t`kinds` text,\n\t`due_at` integer,\n\t`leased_until` integer,\n\t`lease_no` integer DEFAULT 0 NOT NULL,\n\t`failed_attempts` integer NOT NULL,\n\t`last_sent_at` integer,\n\t`last_at` integer,\n\t`last_error` text,\n\t`created_at` integer NOT NULL,\n\t`updated_at` integer NOT NULL\n);\n",
      "CREATE UNIQUE INDEX `alert_targets_address` ON `alert_targets` (`address_key`);",
      "CREATE INDEX `alert_targets_due` ON `alert_targets` (`due_at`,`id`);",
      "CREATE TABLE `alerts` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`kind` text NOT NULL,\n\t`subject` text NOT NULL,\n\t`detail` text NOT NULL,\n\t`raised_at` integer NOT NULL,\n\t`over_at` integer\n);\n",
      "CREATE UNIQUE INDEX `alerts_raised` ON `alerts` (`kind`,`subject`) WHERE over_at is null;",
      "CREATE INDEX `alerts_over` ON `alerts` (`over_at`,`id`) WHERE over_at is not null;",
      "CREATE TABLE `alert_notices` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`target_id` text NOT NULL,\n\t`alert_id` text,\n\t`state` text NOT NULL,\n\t`at` integer NOT NULL,\n\t`detail` text NOT NULL,\n\t`sent_at` integer,\n\t`given_up_at` integer,\n\tFOREIGN KEY (`target_id`) REFERENCES `alert_targets`(`id`) ON UPDATE no action ON DELETE no action,\n\tFOREIGN KEY (`alert_id`) REFERENCES `alerts`(`id`) ON UPDATE no action ON DELETE no action\n);\n",
      "CREATE INDEX `alert_notices_waiting` ON `alert_notices` (`target_id`,`id`) WHERE sent_at is null and given_up_at is null;",
      "CREATE INDEX `alert_notices_target` ON `alert_notices` (`target_id`,`id`);",
      "CREATE INDEX `alert_notices_alert` ON `alert_notices` (`alert_id`,`target_id`);",
      "ALTER TABLE `cron_runs` ADD `failing_since` integer;",
      "ALTER TABLE `products` ADD `low_stock` integer;",
      "CREATE INDEX `products_low_stock` ON `products` (`sku`) WHERE low_stock is not null;",
      "ALTER TABLE `webhook_endpoints` ADD `failed_attempts` integer DEFAULT 0 NOT NULL;",
      "ALTER TABLE `webhook_endpoints` ADD `failing_since` integer;",
      "ALTER TABLE `webhook_endpoints` ADD `cut_attempts` integer DEFAULT 0 NOT NULL;",
      "ALTER TABLE `webhook_endpoints` ADD `waits_until` integer;",
      "CREATE INDEX `webhook_endpoints_failing` ON `webhook_endpoints` (`failing_since`,`id`) WHERE (failing_since is not null or status = 'failed');"
    ]
  },
  {
    "name": "0025_line_refunds",
    "statements": [
      "ALTER TABLE `order_lines` ADD `refunded_cents` integer DEFAULT 0 NOT NULL;"
    ]
  },
  {
    "name": "0026_no_identity",
    "statements": [
      "ALTER TABLE `credentials` ADD `no_identity` integer DEFAULT 0 NOT NULL;"
    ]
  },
  {
    "name": "0027_orders_external",
    "statements": [
      "CREATE INDEX `orders_external` ON `orders` (`partner_id`,`environment`,`external_order_id`,`created_at`,`id`) WHERE external_order_id is not null;"
    ]
  },
  {
    "name": "0028_suspended_reason",
    "statements": [
      "ALTER TABLE `partners` ADD `suspended_reason` text;"
    ]
  },
  {
    "name": "0029_activations_date",
    "statements": [
      "CREATE INDEX `activations_date` ON `activations` (`partner_id`,`environment`,`activation_date`,`id`);"
    ]
  },
  {
    "name": "0030_when_short",
    "statements": [
      "ALTER TABLE `products` ADD `when_short` text;",
      "CREATE INDEX `products_when_short` ON `products` (`sku`) WHERE when_short = 'out_of_stock';"
    ]
  },
  {
    "name": "0031_requests_together",
    "statements": [
      "ALTER TABLE `partners` ADD `max_requests_per_minute` integer;"
    ]
  },
  {
    "name": "0032_partner_support",
    "statements": [
      "ALTER TABLE `partners` ADD `support` text;"
    ]
  },
  {
    "name": "0033_funding_requests",
    "statements": [
      "CREATE TABLE `funding_requests` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`reference` text NOT NULL,\n\t`partner_id` text NOT NULL,\n\t`amount_cents` integer NOT NULL,\n\t`currency` text NOT NULL,\n\t`status` text NOT NULL,\n\t`requested_by` text NOT NULL,\n\t`created_at` integer NOT NULL,\n\t`settled_at` integer,\n\t`transaction_id` text,\n\tFOREIGN KEY (`partner_id`) REFERENCES `partners`(`id`) ON UPDATE no action ON DELETE no action\n);\n",
      "CREATE UNIQUE INDEX `funding_requests_reference` ON `funding_requests` (`reference`);",
      "CREATE INDEX `funding_requests_partner` ON `funding_requests` (`partner_id`,`created_at`,`id`);",
      "CREATE INDEX `funding_requests_created` ON `funding_requests` (`created_at`,`id`);",
      "CREATE INDEX `funding_requests_open` ON `funding_requests` (`partner_id`,`id`) WHERE status = 'requested';"
    ]
  },
  {
    "name": "0034_accounts",
    "statements": [
      "CREATE TABLE `refused_requests` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`partner_id` text NOT NULL,\n\t`environment` text NOT NULL,\n\t`client_id` text NOT NULL,\n\t`method` text NOT NULL,\n\t`route` text NOT NULL,\n\t`status` integer NOT NULL,\n\t`problem` text NOT NULL,\n\t`request_id` text NOT NULL,\n\t`at` integer NOT NULL\n);\n",
      "CREATE INDEX `refused_requests_owner` ON `refused_requests` (`partner_id`,`environment`,`id`);",
      "CREATE TABLE `users` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`sealed` text NOT NULL,\n\t`email_index` text NOT NULL,\n\t`status` text NOT NULL,\n\t`staff_role` text,\n\t`reveal` integer NOT NULL,\n\t`password_hash` text,\n\t`created_at` integer NOT NULL,\n\t`updated_at` integer NOT NULL\n);\n",
      "CREATE UNIQUE INDEX `users_email` ON `users` (`email_index`);",
      "CREATE INDEX `users_created` ON `users` (`created_at`,`id`);",
      "CREATE TABLE `memberships` (\n\t`user_id` text NOT NULL,\n\t`partner_id` text NOT NULL,\n\t`role` text NOT NULL,\n\t`created_at` integer NOT NULL,\n\t`accepted_at` integer,\n\tPRIMARY KEY(`user_id`, `partner_id`),\n\tFOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,\n\tFOREIGN KEY (`partner_id`) REFERENCES `partners`(`id`) ON UPDATE no action ON DELETE no action\n);\n",
      "CREATE INDEX `memberships_partner` ON `memberships` (`partner_id`,`user_id`);",
      "CREATE TABLE `user_factors` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`user_id` text NOT NULL,\n\t`kind` text NOT NULL,\n\t`label` text,\n\t`sealed` text NOT NULL,\n\t`credential_id` text,\n\t`used_no` integer NOT NULL,\n\t`created_at` integer NOT NULL,\n\t`confirmed_at` integer,\n\tFOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action\n);\n",
      "CREATE INDEX `user_factors_user` ON `user_factors` (`user_id`,`id`);",
      "CREATE UNIQUE INDEX `user_factors_passkey` ON `user_factors` (`credential_id`) WHERE credential_id is not null;",
      "CREATE TABLE `invitations` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`token_hash` text NOT NULL,\n\t`user_id` text NOT NULL,\n\t`partner_id` text,\n\t`expires_at` integer NOT NULL,\n\t`created_at` integer NOT NULL,\n\t`token_sealed` text,\n\t`due_at` integer,\n\t`leased_until` integer,\n\t`lease_no` integer DEFAULT 0 NOT NULL,\n\t`failed_attempts` integer NOT NULL,\n\tFOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,\n\tCONSTRAINT \"invitations_waiting\" CHECK((token_sealed is null) = (due_at is null))\n);\n",
      "CREATE UNIQUE INDEX `invitations_token` ON `invitations` (`token_hash`);",
      "CREATE INDEX `invitations_user` ON `invitations` (`user_id`);",
      "CREATE INDEX `invitations_expiry` ON `invitations` (`expires_at`);",
      "CREATE INDEX `invitations_due` ON `invitations` (`due_at`,`id`);",
      "CREATE TABLE `sessions` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`token_hash` text NOT NULL,\n\t`user_id` text NOT NULL,\n\t`partner_id` text,\n\t`environment` text NOT NULL,\n\t`view_as` text,\n\t`agent` text NOT NULL,\n\t`challenge` text,\n\t`factor_at` integer,\n\t`created_at` integer NOT NULL,\n\t`seen_at` integer NOT NULL,\n\tFOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action\n);\n",
      "CREATE UNIQUE INDEX `sessions_token` ON `sessions` (`token_hash`);",
      "CREATE INDEX `sessions_user` ON `sessions` (`user_id`,`id`);",
      "CREATE INDEX `sessions_partner` ON `sessions` (`partner_id`);",
      "CREATE INDEX `sessions_seen` ON `sessions` (`seen_at`);",
      "CREATE INDEX `sessions_created` ON `sessions` (`created_at`);",
      "CREATE TABLE `sign_in_failures` (\n\t`mark` text PRIMARY KEY NOT NULL,\n\t`failures` integer NOT NULL,\n\t`since` integer NOT NULL,\n\t`blocked_until` integer\n);\n",
      "CREATE INDEX `sign_in_failures_since` ON `sign_in_failures` (`since`);",
      "CREATE TABLE `form_keys` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`used_at` integer NOT NULL\n);\n",
      "CREATE INDEX `form_keys_used` ON `form_keys` (`used_at`);",
      "ALTER TABLE `partners` ADD `factor_required` integer DEFAULT 0 NOT NULL;"
    ]
  },
  {
    "name": "0035_supply",
    "statements": [
      "CREATE TABLE `supplier_tokens` (\n\t`supplier` text PRIMARY KEY NOT NULL,\n\t`token_sealed` text NOT NULL,\n\t`expires_at` integer NOT NULL\n);\n",
      "CREATE TABLE `supplier_limits` (\n\t`supplier` text NOT NULL,\n\t`bucket` text NOT NULL,\n\t`window_at` integer NOT NULL,\n\t`used` integer NOT NULL,\n\t`blocked_until` integer NOT NULL,\n\tPRIMARY KEY(`supplier`, `bucket`)\n);\n",
      "CREATE TABLE `supplier_holds` (\n\t`supplier` text NOT NULL,\n\t`plan` text NOT NULL,\n\t`holder` text NOT NULL,\n\t`since` integer NOT NULL,\n\tPRIMARY KEY(`supplier`, `plan`)\n);\n",
      "CREATE TABLE `circuits` (\n\t`supplier` text PRIMARY KEY NOT NULL,\n\t`state` text NOT NULL,\n\t`since` integer NOT NULL,\n\t`reason` text,\n\t`failures` integer NOT NULL,\n\t`openings` integer NOT NULL,\n\t`probe_at` integer\n);\n",
      "CREATE TABLE `product_sources` (\n\t`product_id` text NOT NULL,\n\t`supplier` text NOT NULL,\n\t`supplier_sku` text NOT NULL,\n\t`days` integer,\n\t`priority` integer NOT NULL,\n\t`cost` integer,\n\t`currency` text,\n\t`price_cents` integer,\n\t`synced` integer NOT NULL,\n\t`status` text NOT NULL,\n\t`created_at` integer NOT NULL,\n\t`updated_at` integer NOT NULL,\n\tPRIMARY KEY(`product_id`, `supplier`),\n\tFOREIGN KEY (`product_id`) REFERENCES `products`(`id`) ON UPDATE no action ON DELETE no action\n);\n",
      "CREATE INDEX `product_sources_supplier` ON `product_sources` (`supplier`,`supplier_sku`,`product_id`);",
      "CREATE TABLE `price_lists` (\n\t`name` text PRIMARY KEY NOT NULL,\n\t`created_at` integer NOT NULL,\n\t`updated_at` integer NOT NULL\n);\n",
      "CREATE TABLE `price_rules` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`list` text NOT NULL,\n\t`product_id` text,\n\t`region_key` text,\n\t`region` text,\n\t`price_cents` integer,\n\t`markup_points` integer,\n\t`min_quantity` integer NOT NULL,\n\t`from_day` text,\n\t`to_day` text,\n\t`created_at` integer NOT NULL,\n\tFOREIGN KEY (`list`) REFERENCES `price_lists`(`name`) ON UPDATE no action ON DELETE no action\n);\n",
      "CREATE INDEX `price_rules_product` ON `price_rules` (`list`,`product_id`,`id`) WHERE product_id is not null;",
      "CREATE INDEX `price_rules_region` ON `price_rules` (`list`,`region_key`,`id`) WHERE region_key is not null;",
      "CREATE TABLE `fx_rates` (\n\t`from_currency` text NOT NULL,\n\t`to_currency` text NOT NULL,\n\t`day` text NOT NULL,\n\t`rate` text NOT NULL,\n\t`created_at` integer NOT NULL,\n\tPRIMARY KEY(`from_currency`, `to_currency`, `day`)\n);\n",
      "CREATE TABLE `costs` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`kind` text NOT NULL,\n\t`account` text NOT NULL,\n\t`supplier` text,\n\t`units` integer NOT NULL,\n\t`currency` text NOT NULL,\n\t`cost` integer NOT NULL,\n\t`cost_cents` integer NOT NULL,\n\t`partner_id` text NOT NULL,\n\t`order_id` text,\n\t`line_id` text,\n\t`item_id` text,\n\t`topup_id` text,\n\t`esim_id` text,\n\t`reference` text,\n\t`created_at` integer NOT NULL\n);\n",
      "CREATE INDEX `costs_supplier` ON `costs` (`supplier`,`created_at`,`id`) WHERE supplier is not null;",
      "CREATE INDEX `costs_order` ON `costs` (`order_id`,`id`);",
      "CREATE UNIQUE INDEX `costs_item` ON `costs` (`item_id`) WHERE kind = 'purchase' and item_id is not null;",
      "CREATE UNIQUE INDEX `costs_topup` ON `costs` (`topup_id`) WHERE kind = 'topup';",
      "CREATE UNIQUE INDEX `costs_given_back` ON `costs` (`esim_id`) WHERE kind = 'refund';",
      "CREATE TABLE `topups` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`partner_id` text NOT NULL,\n\t`environment` text NOT NULL,\n\t`esim_id` text NOT NULL,\n\t`iccid` text NOT NULL,\n\t`order_id` text NOT NULL,\n\t`product_id` text NOT NULL,\n\t`product_sku` text NOT NULL,\n\t`status` text NOT NULL,\n\t`price_cents` integer NOT NULL,\n\t`currency` text NOT NULL,\n\t`wallet_balance_after_cents` integer NOT NULL,\n\t`key` text NOT NULL,\n\t`payload_hash` text NOT NULL,\n\t`supplier` text,\n\t`supplier_sku` text,\n\t`days` integer,\n\t`cost` integer,\n\t`cost_currency` text,\n\t`fx_rate` text,\n\t`memory` text,\n\t`attempts` integer NOT NULL,\n\t`due_at` integer,\n\t`leased_until` integer,\n\t`lease_no` integer DEFAULT 0 NOT NULL,\n\t`scenario` text,\n\t`reason` text,\n\t`request_id` text,\n\t`created_by` text,\n\t`created_at` integer NOT NULL,\n\t`applied_at` integer,\n\t`updated_at` integer NOT NULL,\n\tFOREIGN KEY (`esim_id`) REFERENCES `esims`(`id`) ON UPDATE no action ON DELETE no action\n);\n",
      "CREATE UNIQUE INDEX `topups_key` ON `topups` (`partner_id`,`environment`,`key`);",
      "CREATE INDEX `topups_esim` ON `topups` (`esim_id`,`created_at`,`id`);",
      "CREATE INDEX `topups_due` ON `topups` (`due_at`,`id`) WHERE due_at is not null;",
      "CREATE INDEX `topups_due_supplier` ON `topups` (`supplier`,`due_at`,`id`) WHERE due_at is not null;",
      "CREATE INDEX `topups_open` ON `topups` (`created_at`,`id`) WHERE status = 'paid';",
      "CREATE TABLE `esim_returns` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`esim_id` text NOT NULL,\n\t`kind` text NOT NULL,\n\t`outcome` text NOT NULL,\n\t`amount_cents` integer NOT NULL,\n\t`currency` text NOT NULL,\n\t`detail` text,\n\t`reference` text,\n\t`actor` text NOT NULL,\n\t`created_at` integer NOT NULL,\n\tFOREIGN KEY (`esim_id`) REFERENCES `esims`(`id`) ON UPDATE no action ON DELETE no action\n);\n",
      "CREATE INDEX `esim_returns_esim` ON `esim_returns` (`esim_id`,`created_at`,`id`);",
      "CREATE UNIQUE INDEX `esim_returns_refunded` ON `esim_returns` (`esim_id`) WHERE kind = 'refund' and outcome = 'done';",
      "DROP INDEX `esims_iccid_real`;",
      "ALTER TABLE `esims` ADD `supplier` text;",
      "ALTER TABLE `esims` ADD `supplier_ref` text;",
      "ALTER TABLE `esims` ADD `cost` integer;",
      "ALTER TABLE `esims` ADD `cost_currency` text;",
      "ALTER TABLE `esims` ADD `install_state` text;",
      "ALTER TABLE `esims` ADD `look_at` integer;",
      "ALTER TABLE `esims` ADD `retired_at` integer;",
      "CREATE INDEX `esims_supplied` ON `esims` (`supplier_ref`,`supplier`,`id`) WHERE supplier_ref is not null;",
      "CREATE INDEX `esims_look` ON `esims` (`supplier`,`look_at`,`id`) WHERE look_at is not null;",
      "CREATE UNIQUE INDEX `esims_iccid_real` ON `esims` (`iccid`) WHERE (\"esims\".\"environment\" is null or \"esims\".\"environment\" = 'production') and \"esims\".\"retired_at\" is null;",
      "ALTER TABLE `partners` ADD `price_list` text;",
      "ALTER TABLE `products` ADD `purpose` text DEFAULT 'plan' NOT NULL;",
      "ALTER TABLE `products` ADD `sourced` integer DEFAULT 0 NOT NULL;",
      "ALTER TABLE `products` ADD `cost` integer;",
      "ALTER TABLE `products` ADD `cost_currency` text;",
      "ALTER TABLE `products` ADD `held` text;",
      "ALTER TABLE `order_lines` ADD `cost` integer;",
      "ALTER TABLE `order_lines` ADD `cost_currency` text;",
      "ALTER TABLE `order_lines` ADD `fx_rate` text;",
      "ALTER TABLE `order_lines` ADD `price_list` text;",
      "ALTER TABLE `order_items` ADD `supplier_sku` text;",
      "ALTER TABLE `order_items` ADD `days` integer;",
      "ALTER TABLE `order_items` ADD `cost` integer;",
      "ALTER TABLE `order_items` ADD `cost_currency` text;",
      "ALTER TABLE `order_items` ADD `routed` text;",
      "ALTER TABLE `order_items` ADD `refused_by` text;",
      "ALTER TABLE `order_items` ADD `memory` text;",
      "ALTER TABLE `item_attempts` ADD `supplier` text;",
      "ALTER TABLE `suppliers` ADD `callback_sealed` text;",
      "ALTER TABLE `suppliers` ADD `markup_points` integer;",
      "ALTER TABLE `suppliers` ADD `sku_prefix` text;",
      "ALTER TABLE `suppliers` ADD `synced_at` integer;",
      "ALTER TABLE `suppliers` ADD `balance` integer;",
      "ALTER TABLE `suppliers` ADD `balance_currency` text;",
      "ALTER TABLE `suppliers` ADD `balance_at` integer;",
      "ALTER TABLE `suppliers` ADD `low_balance` integer;"
    ]
  },
  {
    "name": "0036_passports_by_expiry",
    "statements": [
      "CREATE INDEX `passports_list_expiry` ON `passports` (`partner_id`,`environment`,`pool_key`,`passport_expiry`,`id`);"
    ]
  },
  {
    "name": "0037_traveler_mails",
    "statements": [
      "CREATE TABLE `traveler_mails` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`esim_id` text NOT NULL,\n\t`partner_id` text NOT NULL,\n\t`to_customer` integer NOT NULL,\n\t`address_sealed` text,\n\t`masked` text NOT NULL,\n\t`status` text NOT NULL,\n\t`due_at` integer,\n\t`leased_until` integer,\n\t`lease_no` integer DEFAULT 0 NOT NULL,\n\t`failed_attempts` integer NOT NULL,\n\t`reason` text,\n\t`created_by` text NOT NULL,\n\t`created_at` integer NOT NULL,\n\t`ended_at` integer,\n\tFOREIGN KEY (`esim_id`) REFERENCES `esims`(`id`) ON UPDATE no action ON DELETE no action,\n\tCONSTRAINT \"traveler_mails_ended\" CHECK((status = 'waiting') = (due_at is not null) and (status = 'waiting' or address_sealed is null))\n);\n",
      "CREATE INDEX `traveler_mails_esim` ON `traveler_mails` (`esim_id`,`created_at`,`id`);",
      "CREATE INDEX `traveler_mails_due` ON `traveler_mails` (`due_at`,`id`) WHERE due_at is not null;"
    ]
  }
];
