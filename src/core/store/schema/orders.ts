import { sql } from "drizzle-orm";
import type { OrderId, OrderLineId, PartnerId, ProductId } from "../../kernel/brand.ts";
import type { Environment } from "../../kernel/environment.ts";
import type { catalogTables } from "./catalog.ts";
import { type Kit, leaseColumns } from "./kit.ts";
import type { partnersTables } from "./partners.ts";
import type {
  DeliveryMethod,
  OrderKeySpace,
  OrderLineStatus,
  OrderScenario,
  OrderStatus,
  ProductType,
  Shipping,
} from "./values.ts";

type Parents = Pick<ReturnType<typeof partnersTables>, "partners"> & Pick<ReturnType<typeof catalogTables>, "products">;

/** Orders, their lines, and the keys that make creating them repeatable. */
export function ordersTables(k: Kit, { partners, products }: Parents) {
  const orders = k.table(
    "orders",
    {
      id: k.text("id").$type<OrderId>().primaryKey(),
      order_number: k.text("order_number").notNull().unique("orders_number"),
      partner_id: k
        .text("partner_id")
        .$type<PartnerId>()
        .notNull()
        .references(() => partners.id),
      environment: k.text("environment").$type<Environment>().notNull(),
      status: k.text("status").$type<OrderStatus>().notNull(),
      currency: k.text("currency").notNull(),
      total_cents: k.int("total_cents").notNull(),
      /** The sum of the ledger's refunds of this order. The default fills rows from before the column. */
      refunded_cents: k.int("refunded_cents").notNull().default(0),
      quantity: k.int("quantity").notNull(),
      product_id: k.text("product_id").$type<ProductId>().notNull(),
      product_sku: k.text("product_sku").notNull(),
      unit_price_cents: k.int("unit_price_cents").notNull(),
      metadata: k.json<Record<string, unknown>>("metadata").notNull(),
      wallet_balance_after_cents: k.int("wallet_balance_after_cents"),
      external_order_id: k.text("external_order_id"),
      /** For whom the partner bought a bulk order, an `OrderCustomer` sealed by the vault. */
      customer_sealed: k.text("customer_sealed"),
      /** The HTTP request that made it. */
      request_id: k.text("request_id"),
      /** Who placed it, as the audit trail names actors; null: it is from before the column. */
      created_by: k.text("created_by"),
      created_at: k.int("created_at").notNull(),
      updated_at: k.int("updated_at").notNull(),
      fulfilled_at: k.int("fulfilled_at"),
      cancelled_at: k.int("cancelled_at"),
      /** Why it was cancelled, rejected or waits for review: words for people. */
      reason: k.text("reason"),
      /** When a worker should next look at it, or when its lease ends; null: nothing to do by itself. */
      due_at: k.int("due_at"),
      ...leaseColumns(k),
      /** Whether the stock of all its stock lines is reserved. */
      reserved: k.flag("reserved").notNull(),
      /**
       * In a sandbox order the number of its first unit among all units ever ordered in the sandbox, from which its
       * eSIMs are computed. Null: a production order, or one from before the column, whose eSIMs are rows.
       */
      first_unit: k.int("first_unit"),
      /** How far the sandbox clock was ahead when it was created (ms): `created_at` is by that clock. */
      ahead_ms: k.int("ahead_ms").notNull().default(0),
      /** The outcome that the request of a sandbox order asked for; null: the normal one. */
      scenario: k.text("scenario").$type<OrderScenario>(),
      /** Unused: nodes of release 0.1.0 select it. */
      version: k.int("version").notNull().default(0),
    },
    (t) => [
      k.index("orders_list").on(t.partner_id, t.environment, t.created_at, t.id),
      // Fulfilled orders are most of a list: theirs is read from the whole one, and they cost no entry here.
      k
        .index("orders_list_rest")
        .on(t.partner_id, t.environment, t.status, t.created_at, t.id)
        .where(sql`${t.status} <> 'fulfilled'`),
      k.index("orders_rest").on(t.status, t.created_at, t.id).where(sql`${t.status} <> 'fulfilled'`),
      k
        .index("orders_external")
        .on(t.partner_id, t.environment, t.external_order_id, t.created_at, t.id)
        .where(sql`external_order_id is not null`),
      k.index("orders_due").on(t.due_at, t.id).where(sql`due_at is not null`),
      k.index("orders_due_partner").on(t.environment, t.partner_id, t.due_at, t.id).where(sql`due_at is not null`),
      k.index("orders_request").on(t.request_id, t.id),
      k.uniqueIndex("orders_first_unit").on(t.first_unit).where(sql`first_unit is not null`),
      k.index("orders_sandbox").on(t.created_at, t.id).where(sql`environment = 'sandbox'`),
      k.index("orders_sandbox_id").on(t.id).where(sql`environment = 'sandbox'`),
      // What has ended is never worked again, whatever a command does.
      k.check(
        "orders_ended",
        sql`status in ('pending_payment', 'paid', 'waiting_review') or (due_at is null and leased_until is null)`,
      ),
    ],
  );

  const orderLines = k.table(
    "order_lines",
    {
      id: k.text("id").$type<OrderLineId>().primaryKey(),
      order_id: k
        .text("order_id")
        .$type<OrderId>()
        .notNull()
        .references(() => orders.id),
      /** The order's own, so that an index leads to a partner's orders of a product. Defaults fill earlier rows. */
      partner_id: k.text("partner_id").$type<PartnerId>().notNull().default(sql`''`),
      environment: k.text("environment").$type<Environment>().notNull().default(sql`''`),
      created_at: k.int("created_at").notNull().default(0),
      position: k.int("position").notNull(),
      product_id: k
        .text("product_id")
        .$type<ProductId>()
        .notNull()
        .references(() => products.id),
      product_name: k.text("product_name").notNull(),
      product_sku: k.text("product_sku").notNull(),
      product_type: k.text("product_type").$type<ProductType>().notNull(),
      delivery_method: k.text("delivery_method").$type<DeliveryMethod>().notNull(),
      supplier: k.text("supplier"),
      quantity: k.int("quantity").notNull(),
      unit_price_cents: k.int("unit_price_cents").notNull(),
      /** As it was ordered: what a unit costs (1/10,000), and what one of that currency is in the order's. */
      cost: k.int("cost"),
      cost_currency: k.text("cost_currency"),
      fx_rate: k.text("fx_rate"),
      /** Whose prices it was sold at; null: the catalog's. */
      price_list: k.text("price_list"),
      status: k.text("status").$type<OrderLineStatus>().notNull(),
      /** eSIMs assigned so far. */
      assigned: k.int("assigned").notNull(),
      shipping: k.json<Shipping>("shipping"),
      /** What of the line's price went back to the wallet; those of an order sum to its `refunded_cents`. */
      refunded_cents: k.int("refunded_cents").notNull().default(0),
    },
    (t) => [
      k.uniqueIndex("order_lines_order").on(t.order_id, t.position),
      k.index("order_lines_product").on(t.partner_id, t.environment, t.product_id, t.created_at, t.order_id),
      k
        .index("order_lines_to_ship")
        .on(t.order_id, t.position)
        .where(sql`${t.delivery_method} = 'shipping' and ${t.status} = 'pending'`),
    ],
  );

  const idempotencyKeys = k.table(
    "idempotency_keys",
    {
      partner_id: k.text("partner_id").$type<PartnerId>().notNull(),
      environment: k.text("environment").$type<Environment>().notNull(),
      /** `single`: an Idempotency-Key; `bulk`: an external_order_id. */
      space: k.text("space").$type<OrderKeySpace>().notNull(),
      key: k.text("key").notNull(),
      payload_hash: k.text("payload_hash").notNull(),
      order_id: k
        .text("order_id")
        .$type<OrderId>()
        .notNull()
        .references(() => orders.id),
    },
    (t) => [
      k.primaryKey({ columns: [t.partner_id, t.environment, t.space, t.key] }),
      k.index("idempotency_keys_order").on(t.order_id),
    ],
  );

  return { orders, orderLines, idempotencyKeys };
}
