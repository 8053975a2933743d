import { sql } from "drizzle-orm";
import type { Tables } from "../store/schema/tables.ts";
import type { LedgerKind } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";

/** What a list of disagreements names at most. */
const MOST = 100;

function sumOf({ ledgerTransactions: { kind, amount_cents } }: Tables, of: LedgerKind) {
  return sql<number>`sum(case when ${kind} = ${sql.raw(`'${of}'`)} then ${amount_cents} else 0 end)`;
}

const wrongOrders = statement((db, t, slot: Slots<{ limit: number }>) => {
  const moved = db
    .select({
      order_id: t.ledgerTransactions.order_id,
      charged: sumOf(t, "charge").as("charged"),
      refunded: sumOf(t, "refund").as("refunded"),
      first_owner: sql<string>`min(${t.ledgerTransactions.partner_id})`.as("first_owner"),
      last_owner: sql<string>`max(${t.ledgerTransactions.partner_id})`.as("last_owner"),
    })
    .from(t.ledgerTransactions)
    .where(sql`${t.ledgerTransactions.order_id} is not null`)
    .groupBy(t.ledgerTransactions.order_id)
    .as("moved");
  return db
    .select({ number: t.orders.order_number })
    .from(t.orders)
    .leftJoin(moved, sql`${moved.order_id} = ${t.orders.id}`)
    .where(
      sql`${t.orders.environment} = 'production' and (coalesce(${moved.charged}, 0) <> ${t.orders.total_cents}
        or coalesce(${moved.refunded}, 0) <> ${t.orders.refunded_cents}
        or ${moved.first_owner} <> ${t.orders.partner_id} or ${moved.last_owner} <> ${t.orders.partner_id})`,
    )
    .orderBy(t.orders.order_number)
    .limit(slot.limit);
});

const withoutOrder = statement((db, t, slot: Slots<{ limit: number }>) =>
  db
    .select({ id: t.ledgerTransactions.id })
    .from(t.ledgerTransactions)
    .leftJoin(t.orders, sql`${t.orders.id} = ${t.ledgerTransactions.order_id}`)
    .where(
      sql`${t.orders.id} is null and (${t.ledgerTransactions.kind} = 'charge' or ${t.ledgerTransactions.kind} = 'refund'
        and not exists (select 1 from ${t.topups} where ${t.topups.id} = ${t.ledgerTransactions.reference}))`,
    )
    .limit(slot.limit),
);

/** What orders and ledger say differently; nothing where all is well. */
export interface MoneyFaults {
  /** Numbers of production orders whose total, refunds or owner are not those of their transactions. */
  orders: string[];
  /** Charges and refunds of orders that are not there. */
  transactions: string[];
}

/** Compares every production order with the ledger: what it cost, what went back, and whose it is. */
export async function checkOrderMoney(q: Read): Promise<MoneyFaults> {
  return {
    orders: (await wrongOrders(q, { limit: MOST })).map(({ number }) => number),
    transactions: (await withoutOrder(q, { limit: MOST })).map(({ id }) => id),
  };
}

const counted = statement((db, t, _slot) =>
  db
    .select()
    .from(t.credentialSpending)
    .where(sql`${t.credentialSpending.environment} = 'production'`)
    .orderBy(t.credentialSpending.client_id, t.credentialSpending.currency),
);

type Day = { client_id: string; currency: string; from: number; until: number };

const charged = statement((db, t, slot: Slots<Day>) =>
  db
    .select({ cents: sql`coalesce(sum(${t.ledgerTransactions.amount_cents}), 0)`.mapWith(Number) })
    .from(t.ledgerTransactions)
    .innerJoin(t.orders, sql`${t.orders.id} = ${t.ledgerTransactions.order_id}`)
    .where(
      sql`${t.ledgerTransactions.kind} = 'charge' and ${t.ledgerTransactions.currency} = ${slot.currency}
        and ${t.ledgerTransactions.partner_id} = (select o.partner_id from ${t.credentials} o
          where o.client_id = ${slot.client_id})
        and ${t.ledgerTransactions.created_at} >= ${slot.from} and ${t.ledgerTransactions.created_at} < ${slot.until}
        and ${t.orders.created_by} in (select 'client:' || c.client_id from ${t.credentials} c
          where c.client_id = ${slot.client_id} or c.guarded_by = ${slot.client_id})`,
    ),
);

/** Credentials whose caps count less for their last day than the ledger charged. */
export async function checkSpending(q: Read): Promise<string[]> {
  const wrong: string[] = [];
  for (const { client_id, currency, day, spent_cents } of await counted(q, {})) {
    const from = Date.parse(`${day}T00:00:00Z`);
    const [sum] = await charged(q, { client_id, currency, from, until: from + 86_400_000 });
    if ((sum?.cents ?? 0) > spent_cents) wrong.push(`${client_id} ${currency}`);
  }
  return wrong;
}

const wrongTopups = statement((db, t, slot: Slots<{ limit: number }>) => {
  const { ledgerTransactions: rows, topups } = t;
  const sumOf = (kind: "topup" | "refund") =>
    sql<number>`sum(case when ${rows.kind} = ${sql.raw(`'${kind}'`)} then ${rows.amount_cents} else 0 end)`;
  const moved = db
    .select({
      reference: rows.reference,
      paid: sumOf("topup").as("paid"),
      refunded: sumOf("refund").as("refunded"),
      owner: sql<string>`min(${rows.partner_id})`.as("owner"),
    })
    .from(rows)
    .where(sql`${rows.kind} in ('topup', 'refund') and ${rows.order_id} is null`)
    .groupBy(rows.reference)
    .as("moved");
  return db
    .select({ id: sql<string>`coalesce(${topups.id}, ${moved.reference})` })
    .from(topups)
    .fullJoin(moved, sql`${moved.reference} = ${topups.id}`)
    .where(
      sql`${topups.id} is null or ${topups.environment} = 'production' and (
        coalesce(${moved.paid}, 0) <> ${topups.price_cents}
        or coalesce(${moved.refunded}, 0) <> case when ${topups.status} = 'failed' then ${topups.price_cents} else 0 end
        or ${moved.owner} <> ${topups.partner_id})`,
    )
    .limit(slot.limit);
});

/** The IDs of top-ups of production whose price, refund or owner is not that of their transactions, at most 100. */
export async function checkTopupMoney(q: Read): Promise<string[]> {
  return (await wrongTopups(q, { limit: MOST })).map(({ id }) => id);
}
