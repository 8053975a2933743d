import { sql } from "drizzle-orm";
import type { EsimId, OrderId, OrderItemId, OrderLineId, PartnerId, ProductId, TopupId } from "../../kernel/brand.ts";
import type { Environment } from "../../kernel/environment.ts";
import type { esimsTables } from "./esims.ts";
import { type Kit, leaseColumns } from "./kit.ts";
import type { CostKind, Memory, OrderScenario, ReturnKind, ReturnOutcome, TopupStatus } from "./values.ts";

type Parents = Pick<ReturnType<typeof esimsTables>, "esims">;

/** What supply costs, and what is bought or given back of an eSIM after its sale. */
export function supplyTables(k: Kit, { esims }: Parents) {
  /** The cost of goods in the ledger: each row posts from `house:cogs` to `account`. Rows are never changed. */
  const costs = k.table(
    "costs",
    {
      id: k.text("id").primaryKey(),
      kind: k.text("kind").$type<CostKind>().notNull(),
      /** `supplier:NAME`, or `house:stock` for what was in stock. */
      account: k.text("account").notNull(),
      /** Null: the units were in stock. */
      supplier: k.text("supplier"),
      units: k.int("units").notNull(),
      currency: k.text("currency").notNull(),
      /** What all units cost, in 1/10,000 of the currency; below zero: given back. */
      cost: k.int("cost").notNull(),
      /** The same in the currency's minor units, rounded half up. */
      cost_cents: k.int("cost_cents").notNull(),
      partner_id: k.text("partner_id").$type<PartnerId>().notNull(),
      order_id: k.text("order_id").$type<OrderId>(),
      line_id: k.text("line_id").$type<OrderLineId>(),
      item_id: k.text("item_id").$type<OrderItemId>(),
      topup_id: k.text("topup_id").$type<TopupId>(),
      esim_id: k.text("esim_id").$type<EsimId>(),
      /** The supplier's own order. */
      reference: k.text("reference"),
      created_at: k.int("created_at").notNull(),
    },
    (t) => [
      k.index("costs_supplier").on(t.supplier, t.created_at, t.id).where(sql`supplier is not null`),
      k.index("costs_order").on(t.order_id, t.id),
      // What is bought once costs once.
      k.uniqueIndex("costs_item").on(t.item_id).where(sql`kind = 'purchase' and item_id is not null`),
      k.uniqueIndex("costs_topup").on(t.topup_id).where(sql`kind = 'topup'`),
      k.uniqueIndex("costs_given_back").on(t.esim_id).where(sql`kind = 'refund'`),
    ],
  );

  const topups = k.table(
    "topups",
    {
      id: k.text("id").$type<TopupId>().primaryKey(),
      partner_id: k.text("partner_id").$type<PartnerId>().notNull(),
      environment: k.text("environment").$type<Environment>().notNull(),
      esim_id: k
        .text("esim_id")
        .$type<EsimId>()
        .notNull()
        .references(() => esims.id),
      iccid: k.text("iccid").notNull(),
      order_id: k.text("order_id").$type<OrderId>().notNull(),
      product_id: k.text("product_id").$type<ProductId>().notNull(),
      product_sku: k.text("product_sku").notNull(),
      status: k.text("status").$type<TopupStatus>().notNull(),
      price_cents: k.int("price_cents").notNull(),
      currency: k.text("currency").notNull(),
      wallet_balance_after_cents: k.int("wallet_balance_after_cents").notNull(),
      /** The Idempotency-Key, and the hash of the body that it came with. */
      key: k.text("key").notNull(),
      payload_hash: k.text("payload_hash").notNull(),
      /** Null: the sandbox's, which reaches no supplier. */
      supplier: k.text("supplier"),
      supplier_sku: k.text("supplier_sku"),
      days: k.int("days"),
      /** What it costs as it is bought, and what one unit of that currency is in the price's. */
      cost: k.int("cost"),
      cost_currency: k.text("cost_currency"),
      fx_rate: k.text("fx_rate"),
      /** What the adapter remembers of the purchase. */
      memory: k.json<Memory>("memory"),
      attempts: k.int("attempts").notNull(),
      due_at: k.int("due_at"),
      ...leaseColumns(k),
      scenario: k.text("scenario").$type<OrderScenario>(),
      /** Why it failed, or for what staff it waits. */
      reason: k.text("reason"),
      request_id: k.text("request_id"),
      created_by: k.text("created_by"),
      created_at: k.int("created_at").notNull(),
      applied_at: k.int("applied_at"),
      updated_at: k.int("updated_at").notNull(),
    },
    (t) => [
      k.uniqueIndex("topups_key").on(t.partner_id, t.environment, t.key),
      k.index("topups_esim").on(t.esim_id, t.created_at, t.id),
      k.index("topups_due").on(t.due_at, t.id).where(sql`due_at is not null`),
      k.index("topups_due_supplier").on(t.supplier, t.due_at, t.id).where(sql`due_at is not null`),
      k.index("topups_open").on(t.created_at, t.id).where(sql`status = 'paid'`),
    ],
  );

  /** What was asked of a supplier after the sale of an eSIM. */
  const esimReturns = k.table(
    "esim_returns",
    {
      id: k.text("id").primaryKey(),
      esim_id: k
        .text("esim_id")
        .$type<EsimId>()
        .notNull()
        .references(() => esims.id),
      kind: k.text("kind").$type<ReturnKind>().notNull(),
      outcome: k.text("outcome").$type<ReturnOutcome>().notNull(),
      amount_cents: k.int("amount_cents").notNull(),
      currency: k.text("currency").notNull(),
      detail: k.text("detail"),
      /** The supplier's own name for it. */
      reference: k.text("reference"),
      actor: k.text("actor").notNull(),
      created_at: k.int("created_at").notNull(),
    },
    (t) => [
      k.index("esim_returns_esim").on(t.esim_id, t.created_at, t.id),
      // Money follows a refund once.
      k.uniqueIndex("esim_returns_refunded").on(t.esim_id).where(sql`kind = 'refund' and outcome = 'done'`),
    ],
  );

  return { costs, topups, esimReturns };
}
