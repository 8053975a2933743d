// Made by `npm run migration`; a migration that was released is never changed.
import type { Migration } from "../migrate.ts";

export const migrations: Migration[] = [
  {
    "name": "0001_initial",
    "statements": [
      "CREATE TABLE `settings` (\n\t`key` text PRIMARY KEY NOT NULL,\n\t`value` text NOT NULL\n);\n",
      "CREATE TABLE `data_keys` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`purpose` text NOT NULL,\n\t`wrapped` text NOT NULL,\n\t`created_at` integer NOT NULL,\n\t`retired_at` integer\n);\n",
      "CREATE TABLE `audit_entries` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`at` integer NOT NULL,\n\t`actor` text NOT NULL,\n\t`action` text NOT NULL,\n\t`target_kind` text NOT NULL,\n\t`target_id` text NOT NULL,\n\t`partner_id` text,\n\t`fields` text,\n\t`note` text\n);\n",
      "CREATE INDEX `audit_entries_at` ON `audit_entries` (`at`,`id`);",
      "CREATE INDEX `audit_entries_target` ON `audit_entries` (`target_id`,`at`,`id`);",
      "CREATE INDEX `audit_entries_partner` ON `audit_entries` (`partner_id`,`at`,`id`);",
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
      "CREATE TABLE `esims` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`iccid` text NOT NULL,\n\t`product_id` text NOT NULL,\n\t`order_id` text,\n\t`line_id` text,\n\t`partner_id` text,\n\t`environment` text,\n\t`eid` text,\n\t`smdp_address` text NOT NULL,\n\t`matching_id` text NOT NULL,\n\t`confirmation_code` text,\n\t`status` text NOT NULL,\n\t`created_at` integer NOT NULL,\n\t`assigned_at` integer,\n\t`activated_at` integer,\n\t`expires_at` integer,\n\tFOREIGN KEY (`product_id`) REFERENCES `products`(`id`) ON UPDATE no action ON DELETE no action\n);\n",
      "CREATE UNIQUE INDEX `esims_iccid_real` ON `esims` (`iccid`) WHERE \"esims\".\"environment\" is null or \"esims\".\"environment\" = 'production';",
      "CREATE INDEX `esims_iccid` ON `esims` (`iccid`);",
      "CREATE INDEX `esims_order` ON `esims` (`order_id`,`id`);",
      "CREATE INDEX `esims_line` ON `esims` (`line_id`,`id`);",
      "CREATE INDEX `esims_stock` ON `esims` (`product_id`,`id`) WHERE \"esims\".\"order_id\" is null;",
      "CREATE TABLE `wallets` (\n\t`partner_id` text NOT NULL,\n\t`currency` text NOT NULL,\n\t`balance_cents` integer NOT NULL,\n\t`last_transaction_at` integer,\n\tPRIMARY KEY(`partner_id`, `currency`),\n\tFOREIGN KEY (`partner_id`) REFERENCES `partners`(`id`) ON UPDATE no action ON DELETE no action,\n\tCONSTRAINT \"wallets_not_negative\" CHECK(\"wallets\".\"balance_cents\" >= 0)\n);\n",
      "CREATE TABLE `ledger_transactions` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`kind` text NOT NULL,\n\t`partner_id` text NOT NULL,\n\t`order_id` text,\n\t`currency` text NOT NULL,\n\t`amount_cents` integer NOT NULL,\n\t`reference` text,\n\t`created_at` integer NOT NULL,\n\tFOREIGN KEY (`partner_id`) REFERENCES `partners`(`id`) ON UPDATE no action ON DELETE no action\n);\n",
      "CREATE INDEX `ledger_transactions_partner` ON `ledger_transactions` (`partner_id`,`created_at`,`id`);",
      "CREATE INDEX `ledger_transactions_order` ON `ledger_transactions` (`order_id`,`id`);",
      "CREATE TABLE `ledger_postings` (\n\t`transaction_id` text NOT NULL,\n\t`account` text NOT NULL,\n\t`currency` text NOT NULL,\n\t`amount_cents` integer NOT NULL,\n\tPRIMARY KEY(`transaction_id`, `account`),\n\tFOREIGN KEY (`transaction_id`) REFERENCES `ledger_transactions`(`id`) ON UPDATE no action ON DELETE no action\n);\n",
      "CREATE INDEX `ledger_postings_account` ON `ledger_postings` (`account`,`currency`);",
      "CREATE TABLE `orders` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`order_number` text NOT NULL,\n\t`partner_id` text NOT NULL,\n\t`environment` text NOT NULL,\n\t`status` text NOT NULL,\n\t`currency` text NOT NULL,\n\t`total_cents` integer NOT NULL,\n\t`quantity` integer NOT NULL,\n\t`product_id` text NOT NULL,\n\t`product_sku` text NOT NULL,\n\t`unit_price_cents` integer NOT NULL,\n\t`metadata` text NOT NULL,\n\t`wallet_balance_after_cents` integer,\n\t`external_order_id` text,\n\t`created_at` integer NOT NULL,\n\t`updated_at` integer NOT NULL,\n\t`fulfilled_at` integer,\n\t`cancelled_at` integer,\n\t`reason` text,\n\t`due_at` integer,\n\t`leased_until` integer,\n\t`reserved` integer NOT NULL,\n\tFOREIGN KEY (`partner_id`) REFERENCES `partners`(`id`) ON UPDATE no action ON DELETE no action\n);\n",
      "CREATE UNIQUE INDEX `orders_number` ON `orders` (`order_number`);",
      "CREATE INDEX `orders_list` ON `orders` (`partner_id`,`environment`,`created_at`,`id`);",
      "CREATE INDEX `orders_list_status` ON `orders` (`partner_id`,`environment`,`status`,`created_at`,`id`);",
      "CREATE INDEX `orders_status` ON `orders` (`status`,`created_at`,`id`);",
      "CREATE INDEX `orders_due` ON `orders` (`due_at`,`id`);",
      "CREATE TABLE `order_lines` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`order_id` text NOT NULL,\n\t`position` integer NOT NULL,\n\t`product_id` text NOT NULL,\n\t`product_name` text NOT NULL,\n\t`product_sku` text NOT NULL,\n\t`product_type` text NOT NULL,\n\t`delivery_method` text NOT NULL,\n\t`quantity` integer NOT NULL,\n\t`unit_price_cents` integer NOT NULL,\n\t`status` text NOT NULL,\n\t`assigned` integer NOT NULL,\n\t`shipping` text,\n\tFOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action,\n\tFOREIGN KEY (`product_id`) REFERENCES `products`(`id`) ON UPDATE no action ON DELETE no action\n);\n",
      "CREATE UNIQUE INDEX `order_lines_order` ON `order_lines` (`order_id`,`position`);",
      "CREATE TABLE `idempotency_keys` (\n\t`partner_id` text NOT NULL,\n\t`environment` text NOT NULL,\n\t`space` text NOT NULL,\n\t`key` text NOT NULL,\n\t`payload_hash` text NOT NULL,\n\t`order_id` text NOT NULL,\n\tPRIMARY KEY(`partner_id`, `environment`, `space`, `key`),\n\tFOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action\n);\n",
      "CREATE TABLE `events` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`kind` text NOT NULL,\n\t`partner_id` text NOT NULL,\n\t`environment` text NOT NULL,\n\t`subject_id` text NOT NULL,\n\t`occurred_at` integer NOT NULL,\n\t`data` text NOT NULL,\n\t`expands` text\n);\n",
      "CREATE INDEX `events_partner` ON `events` (`partner_id`,`environment`,`occurred_at`,`id`);",
      "CREATE INDEX `events_subject` ON `events` (`subject_id`,`id`);"
    ]
  }
];
