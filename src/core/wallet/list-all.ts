import { and, desc, eq, lt, type SQL, sql } from "drizzle-orm";
import type { PartnerId } from "../kernel/brand.ts";
import { startOf } from "../kernel/list-filter.ts";
import { requireCurrency } from "../kernel/money.ts";
import { byCreation, type Pagination, pageOf } from "../kernel/page.ts";
import type { Tables } from "../store/schema/tables.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { toTransaction, type WalletTransaction } from "./transactions.ts";

/** Which transactions of one partner or of all, in one currency or in any. */
export interface AllTransactionsFilter {
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

type Window = { partner_id: PartnerId; currency: string; key: number; id: string; limit: number };
type Narrowed = (t: Tables, slot: Slots<Window>) => SQL;

/** By the index of a partner or a wallet; over all partners by the ids, which begin with the creation. */
function listed(byCreated: boolean, narrowed: Narrowed[]) {
  return statement((db, t, slot: Slots<Window>) => {
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
