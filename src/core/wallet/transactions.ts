import { and, desc, eq, gte, lt, type SQL, sql } from "drizzle-orm";
import type { OrderId, PartnerId } from "../kernel/brand.ts";
import { isoTime } from "../kernel/clock.ts";
import { startOf } from "../kernel/list-filter.ts";
import { requireCurrency } from "../kernel/money.ts";
import { byCreation, newestFirst, type Pagination, pageOf } from "../kernel/page.ts";
import type { Tables } from "../store/schema/tables.ts";
import type { LedgerKind } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { signedAmount } from "./record-transaction.ts";

/** Which of a partner's transactions, and the page. */
export interface TransactionFilter {
  partnerId: PartnerId;
  limit: number;
  cursor?: string | undefined;
  currency?: string | undefined;
  /** At this moment (ms) or later. */
  from?: number | undefined;
  /** Before this moment (ms). */
  to?: number | undefined;
}

/** A movement of a partner's wallet. */
export interface WalletTransaction {
  id: string;
  kind: LedgerKind;
  currency: string;
  /** Signed, as it changed the wallet. */
  amount_cents: number;
  /** What the wallet held then in this currency. */
  balance_after_cents: number;
  reference: string | null;
  order_id: OrderId | null;
  order_number: string | null;
  created_at: string;
}

interface Window {
  partner_id: PartnerId;
  currency: string;
  since: number;
  key: number;
  id: string;
  limit: number;
}

/** By the index of the partner, or of one of its wallets. */
function transactions(ofWallet: boolean) {
  return statement((db, t, slot: Slots<Window>) => {
    const { ledgerTransactions: rows, orders } = t;
    return db
      .select({ transaction: rows, order_number: orders.order_number })
      .from(rows)
      .leftJoin(orders, eq(orders.id, rows.order_id))
      .where(
        and(
          eq(rows.partner_id, slot.partner_id),
          ofWallet ? eq(rows.currency, slot.currency) : undefined,
          gte(rows.created_at, slot.since),
          sql`(${rows.created_at}, ${rows.id}) < (${slot.key}, ${slot.id})`,
        ),
      )
      .orderBy(desc(rows.created_at), desc(rows.id))
      .limit(slot.limit);
  });
}

const inAnyCurrency = transactions(false);
const ofWallet = transactions(true);

/**
 * A page of what moved a partner's money, newest first, each with the balance after it. Throws `invalid_cursor`,
 * `validation` for an unknown currency.
 */
export async function listTransactions(
  q: Read,
  filter: TransactionFilter,
): Promise<{ data: WalletTransaction[]; pagination: Pagination }> {
  const { partnerId: partner_id, limit, cursor, currency, from: since = 0, to } = filter;
  if (currency !== undefined) requireCurrency(currency);
  const list = currency === undefined ? inAnyCurrency : ofWallet;
  const { rows, pagination } = await pageOf(
    {
      limit,
      cursor,
      binding: { list: "wallet_transactions", partner: partner_id, currency, since, to },
      // No id is less than "": the first page starts below all transactions of that moment.
      start: to === undefined ? newestFirst : { key: to, id: "" },
    },
    // The list of all currencies has no slot for one.
    (window) => list(q, { ...window, partner_id, since, currency: currency ?? "" }),
    ({ transaction }) => byCreation(transaction),
  );
  return { data: rows.map(toTransaction), pagination };
}

type Found = Awaited<ReturnType<typeof inAnyCurrency>>[number];

/** A transaction of the ledger, and the number of its order, as partners see it. */
export function toTransaction({ transaction, order_number }: Found): WalletTransaction {
  const { id, kind, currency, balance_after_cents, reference, order_id, created_at } = transaction;
  const amount_cents = signedAmount(transaction);
  const moved = { id, kind, currency, amount_cents, balance_after_cents, reference, order_id, order_number };
  return { ...moved, created_at: isoTime(created_at) };
}

/** Which transactions of one partner or of all, in one currency or in any. */
interface AllTransactionsFilter {
  partnerId?: PartnerId | undefined;
  currency?: string | undefined;
  limit: number;
  cursor?: string | undefined;
}

/** A ledger transaction as the operator's list over all partners shows it. */
export interface ListedTransaction extends WalletTransaction {
  /** The slug. */
  partner: string;
}

type LedgerWindow = { partner_id: PartnerId; currency: string; key: number; id: string; limit: number };
type Narrowed = (t: Tables, slot: Slots<LedgerWindow>) => SQL;

/** By the index of a partner or a wallet; over all partners by the ids, which begin with the creation. */
function listed(byCreated: boolean, narrowed: Narrowed[]) {
  return statement((db, t, slot: Slots<LedgerWindow>) => {
    const { ledgerTransactions: rows, orders, partners } = t;
    const position = sql`(${rows.created_at}, ${rows.id}) < (${slot.key}, ${slot.id})`;
    return db
      .select({ transaction: rows, partner: partners.slug, order_number: orders.order_number })
      .from(rows)
      .innerJoin(partners, eq(partners.id, rows.partner_id))
      .leftJoin(orders, eq(orders.id, rows.order_id))
      .where(and(byCreated ? position : lt(rows.id, slot.id), ...narrowed.map((one) => one(t, slot))))
      .orderBy(...(byCreated ? [desc(rows.created_at)] : []), desc(rows.id))
      .limit(slot.limit);
  });
}

const ofPartner: Narrowed = (t, slot) => eq(t.ledgerTransactions.partner_id, slot.partner_id);
const inCurrency: Narrowed = (t, slot) => eq(t.ledgerTransactions.currency, slot.currency);

const lists = {
  all: listed(false, []),
  ofPartner: listed(true, [ofPartner]),
  inCurrency: listed(false, [inCurrency]),
  ofWallet: listed(true, [ofPartner, inCurrency]),
};

/** A page of the ledger, newest first. Throws `invalid_cursor`, `validation` for an unknown currency. */
export async function listAllTransactions(
  q: Read,
  { partnerId, currency, limit, cursor }: AllTransactionsFilter,
): Promise<{ data: ListedTransaction[]; pagination: Pagination }> {
  if (currency !== undefined) requireCurrency(currency);
  const ofOne = currency === undefined ? lists.ofPartner : lists.ofWallet;
  const ofAll = currency === undefined ? lists.all : lists.inCurrency;
  const list = partnerId === undefined ? ofAll : ofOne;
  const { rows, pagination } = await pageOf(
    { limit, cursor, binding: { list: "ledger", partner: partnerId, currency }, start: startOf(undefined) },
    // Lists that are not narrowed have no slots for a partner or a currency.
    (window) => list(q, { ...window, partner_id: partnerId ?? ("" as PartnerId), currency: currency ?? "" }),
    ({ transaction }) => byCreation(transaction),
  );
  return { data: rows.map(toListed), pagination };
}

function toListed({ partner, ...found }: Awaited<ReturnType<typeof lists.all>>[number]): ListedTransaction {
  return { ...toTransaction(found), partner };
}
