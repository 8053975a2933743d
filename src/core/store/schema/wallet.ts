import { sql } from "drizzle-orm";
import type { OrderId, PartnerId } from "../../kernel/brand.ts";
import { headColumns, linkColumns } from "./chains.ts";
import type { Kit } from "./kit.ts";
import type { partnersTables } from "./partners.ts";
import type { FundingStatus, LedgerKind } from "./values.ts";

/** Wallets and the double-entry ledger they must always agree with. */
export function walletTables(k: Kit, { partners }: Pick<ReturnType<typeof partnersTables>, "partners">) {
  const wallets = k.table(
    "wallets",
    {
      partner_id: k
        .text("partner_id")
        .$type<PartnerId>()
        .notNull()
        .references(() => partners.id),
      currency: k.text("currency").notNull(),
      balance_cents: k.int("balance_cents").notNull(),
      last_transaction_at: k.int("last_transaction_at"),
      /** When wallet.low was last sent for the present threshold; null: not yet. */
      low_at: k.int("low_at"),
      /** Since when the balance is no longer below the threshold; null: it is below, or never was. */
      restored_at: k.int("restored_at"),
      /** What orders may draw on credit, and how much of it is drawn. */
      credit_limit_cents: k.int("credit_limit_cents").notNull().default(0),
      credit_used_cents: k.int("credit_used_cents").notNull().default(0),
      ...headColumns(k),
    },
    (t) => [
      k.primaryKey({ columns: [t.partner_id, t.currency] }),
      k.check("wallets_not_negative", sql`${t.balance_cents} >= 0`),
    ],
  );

  const ledgerTransactions = k.table(
    "ledger_transactions",
    {
      id: k.text("id").primaryKey(),
      kind: k.text("kind").$type<LedgerKind>().notNull(),
      partner_id: k
        .text("partner_id")
        .$type<PartnerId>()
        .notNull()
        .references(() => partners.id),
      order_id: k.text("order_id").$type<OrderId>(),
      currency: k.text("currency").notNull(),
      amount_cents: k.int("amount_cents").notNull(),
      reference: k.text("reference"),
      /** What the wallet held then in the currency. A sum of its chain so far, which no hash covers. */
      balance_after_cents: k.int("balance_after_cents").notNull().default(0),
      created_at: k.int("created_at").notNull(),
      ...linkColumns(k),
    },
    (t) => [
      k.uniqueIndex("ledger_transactions_chain").on(t.partner_id, t.currency, t.chain_no),
      k.index("ledger_transactions_partner").on(t.partner_id, t.created_at, t.id),
      k.index("ledger_transactions_wallet").on(t.partner_id, t.currency, t.created_at, t.id),
      // The references that credits were recorded with.
      k
        .index("ledger_transactions_credit")
        .on(t.partner_id, t.currency, t.reference, t.chain_no)
        .where(sql`kind = 'credit'`),
      k.index("ledger_transactions_order").on(t.order_id, t.id),
    ],
  );

  const ledgerPostings = k.table(
    "ledger_postings",
    {
      transaction_id: k
        .text("transaction_id")
        .notNull()
        .references(() => ledgerTransactions.id),
      /** `wallet:<partner id>`, `house:bank`, `house:sales` or `house:credit`. */
      account: k.text("account").notNull(),
      currency: k.text("currency").notNull(),
      /** Signed; the postings of one transaction sum to zero. */
      amount_cents: k.int("amount_cents").notNull(),
    },
    // By account only audits ask, which read every posting.
    (t) => [k.primaryKey({ columns: [t.transaction_id, t.account] })],
  );

  /** Money that partners announce, until the operator credits it. */
  const fundingRequests = k.table(
    "funding_requests",
    {
      id: k.text("id").primaryKey(),
      /** `FND-` and 8 characters: what the partner names in the transfer. */
      reference: k.text("reference").notNull(),
      partner_id: k
        .text("partner_id")
        .$type<PartnerId>()
        .notNull()
        .references(() => partners.id),
      amount_cents: k.int("amount_cents").notNull(),
      currency: k.text("currency").notNull(),
      status: k.text("status").$type<FundingStatus>().notNull(),
      /** The actor. */
      requested_by: k.text("requested_by").notNull(),
      created_at: k.int("created_at").notNull(),
      settled_at: k.int("settled_at"),
      /** The transaction of the ledger, once it is credited. */
      transaction_id: k.text("transaction_id"),
    },
    (t) => [
      k.uniqueIndex("funding_requests_reference").on(t.reference),
      k.index("funding_requests_partner").on(t.partner_id, t.created_at, t.id),
      k.index("funding_requests_created").on(t.created_at, t.id),
      k.index("funding_requests_open").on(t.partner_id, t.id).where(sql`status = 'requested'`),
    ],
  );

  return { wallets, ledgerTransactions, ledgerPostings, fundingRequests };
}
