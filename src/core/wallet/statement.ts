import { and, asc, eq, gt, lte } from "drizzle-orm";
import type { PartnerId } from "../kernel/brand.ts";
import { requireCurrency } from "../kernel/money.ts";
import { type MonthSpan, monthAt, monthSpan } from "../kernel/month.ts";
import { invalid } from "../kernel/problem.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { type ChainedWallet, chainedWallets, type Place, placeOf, UNSETTLED_MS } from "./places.ts";
import { toTransaction, type WalletTransaction } from "./transactions.ts";

/** What a statement says beside its movements. */
export interface StatementFigures {
  /** YYYY-MM, of UTC. */
  month: string;
  currency: string;
  /** What the wallet held before its first movement. */
  opening_cents: number;
  /** What it held after the last one: what the next month opens with. */
  closing_cents: number;
  movement_count: number;
  /** The month is over, and nothing can be added to it any more. */
  finished: boolean;
}

/** A statement, and where its movements are: those of the chain after `after`, up to `through`. */
export interface Statement {
  partnerId: PartnerId;
  figures: StatementFigures;
  after: number;
  through: number;
  /** When it begins (ms), and ends; one that is not over ends when it was read. */
  from: number;
  until: number;
}

/** Which statement of a partner. */
export interface StatementAsked {
  partnerId: PartnerId;
  month: string;
  currency?: string | undefined;
}

/**
 * A partner's statement of a month. Empty for months before the first movement, and for a currency that has none yet.
 * Throws `validation` for a month that is none or has not begun, for an unknown currency, and where the partner has
 * several wallets and none is named.
 */
export async function findStatement(q: Read, { partnerId, month, currency }: StatementAsked): Promise<Statement> {
  const span = requireMonth(month, q.now);
  const wallet = await requireWallet(q, partnerId, currency);
  return statementOf(q, { wallet, month, span }, (moment) => placeOf(q, wallet, moment));
}

/** What a file with a statement is called, without its ending. */
export function statementName({ figures }: Pick<Statement, "figures">): string {
  return `statement-${figures.month}-${figures.currency}`;
}

function requireMonth(month: string, now: number): MonthSpan {
  const span = monthSpan(month);
  if (span === null) throw invalid({ month: ["must be a month as 2026-03"] });
  if (span.from > now) throw invalid({ month: [`must not be later than the present one, ${monthAt(now)} (UTC)`] });
  return span;
}

async function requireWallet(q: Read, partnerId: PartnerId, currency: string | undefined): Promise<ChainedWallet> {
  const wallets = await chainedWallets(q, partnerId);
  if (currency !== undefined) {
    requireCurrency(currency);
    const none = { partnerId, currency, end: { count: 0, balance: 0 } };
    return wallets.find((wallet) => wallet.currency === currency) ?? none;
  }
  const [only, ...more] = wallets;
  if (only === undefined) throw invalid({ currency: ["is required, as no money has moved yet"] });
  if (more.length === 0) return only;
  throw invalid({ currency: [`is required: there are wallets in ${wallets.map((one) => one.currency).join(", ")}`] });
}

/** A month of a wallet. */
export interface WalletMonth {
  wallet: ChainedWallet;
  month: string;
  span: MonthSpan;
}

/** The statement of a month, with `placeAt` to find where moments are in the wallet's chain. */
export async function statementOf(
  q: Read,
  { wallet, month, span }: WalletMonth,
  placeAt: (moment: number) => Promise<Place>,
): Promise<Statement> {
  const { partnerId, currency, end } = wallet;
  const opening = await placeAt(span.from);
  // What is dated ahead of this clock is of the present month, too: it has no end yet.
  const closing = span.until > q.now ? end : await placeAt(span.until);
  const movement_count = closing.count - opening.count;
  if (movement_count < 0) throw new Error(`the times in the ledger of ${partnerId} in ${currency} are out of order`);
  const figures = {
    month,
    currency,
    opening_cents: opening.balance,
    closing_cents: closing.balance,
    movement_count,
    finished: span.until + UNSETTLED_MS <= q.now,
  };
  const { from } = span;
  return {
    partnerId,
    figures,
    after: opening.count,
    through: closing.count,
    from,
    until: Math.min(span.until, q.now),
  };
}

/** Movements of a statement: so many after a number of the chain. */
export type StatementSlice = Pick<Statement, "partnerId" | "after" | "through"> & { currency: string; limit: number };

type Slice = { partner_id: PartnerId; currency: string; after: number; through: number; limit: number };

const inChain = statement((db, t, slot: Slots<Slice>) => {
  const { ledgerTransactions: rows, orders } = t;
  const ofWallet = and(eq(rows.partner_id, slot.partner_id), eq(rows.currency, slot.currency));
  return db
    .select({ transaction: rows, order_number: orders.order_number })
    .from(rows)
    .leftJoin(orders, eq(orders.id, rows.order_id))
    .where(and(ofWallet, gt(rows.chain_no, slot.after), lte(rows.chain_no, slot.through)))
    .orderBy(asc(rows.chain_no))
    .limit(slot.limit);
});

/** The movements of a part of a statement, oldest first. */
export async function statementMovements(q: Read, slice: StatementSlice): Promise<WalletTransaction[]> {
  const { partnerId: partner_id, ...rest } = slice;
  return (await inChain(q, { partner_id, ...rest })).map(toTransaction);
}
