import { and, eq, ne, sql } from "drizzle-orm";
import { statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { walletAccount } from "./record-transaction.ts";

/** What `wallet check` prints. */
export interface WalletCheck {
  /** Every balance equals its postings and every transaction sums to zero. */
  ok: boolean;
  wallets: CheckedWallet[];
  /** Ids of ledger transactions whose postings do not sum to zero. */
  unbalanced: string[];
}

/** A ledger transaction whose balance after it is not the sum of its wallet's chain so far. */
export interface WrongBalanceAfter {
  id: string;
  partner: string;
  currency: string;
  balance_after_cents: number;
  ledger_cents: number;
}

/** A balance beside the sum of its postings. */
export interface CheckedWallet {
  partner: string;
  currency: string;
  balance_cents: number;
  ledger_cents: number;
  ok: boolean;
  low: boolean;
}

const wallets = statement((db, t, _slot) =>
  db
    // By name: a backup of an earlier version lacks the columns that came later.
    .select({
      slug: t.partners.slug,
      partner_id: t.wallets.partner_id,
      currency: t.wallets.currency,
      balance_cents: t.wallets.balance_cents,
    })
    .from(t.wallets)
    .innerJoin(t.partners, eq(t.partners.id, t.wallets.partner_id))
    .orderBy(t.partners.slug, t.wallets.currency),
);

const sums = statement((db, t, _slot) =>
  db
    .select({
      account: t.ledgerPostings.account,
      currency: t.ledgerPostings.currency,
      cents: sql`sum(${t.ledgerPostings.amount_cents})`.mapWith(Number),
    })
    .from(t.ledgerPostings)
    .groupBy(t.ledgerPostings.account, t.ledgerPostings.currency),
);

const unbalancedRows = statement((db, t, _slot) =>
  db
    .select({ id: t.ledgerPostings.transaction_id })
    .from(t.ledgerPostings)
    .groupBy(t.ledgerPostings.transaction_id)
    .having(sql`sum(${t.ledgerPostings.amount_cents}) <> 0 or count(*) < 2`),
);

const credits = statement((db, t, _slot) =>
  db
    .select({
      slug: t.partners.slug,
      partner_id: t.wallets.partner_id,
      currency: t.wallets.currency,
      used: t.wallets.credit_used_cents,
    })
    .from(t.wallets)
    .innerJoin(t.partners, eq(t.partners.id, t.wallets.partner_id))
    .orderBy(t.partners.slug, t.wallets.currency),
);

const drawn = statement((db, t, _slot) =>
  db
    .select({
      partner_id: t.ledgerTransactions.partner_id,
      currency: t.ledgerTransactions.currency,
      cents: sql`sum(${t.ledgerPostings.amount_cents})`.mapWith(Number),
    })
    .from(t.ledgerPostings)
    .innerJoin(t.ledgerTransactions, eq(t.ledgerTransactions.id, t.ledgerPostings.transaction_id))
    .where(eq(t.ledgerPostings.account, "house:credit"))
    .groupBy(t.ledgerTransactions.partner_id, t.ledgerTransactions.currency),
);

/** A wallet whose drawn credit is not what its postings from `house:credit` sum to. */
export interface WrongCredit {
  partner: string;
  currency: string;
  used_cents: number;
  ledger_cents: number;
}

const afterwards = statement((db, t, _slot) => {
  const { ledgerTransactions: rows, ledgerPostings: postings, partners } = t;
  const own = and(eq(postings.transaction_id, rows.id), eq(postings.account, sql`'wallet:' || ${rows.partner_id}`));
  const chain = sql`partition by ${rows.partner_id}, ${rows.currency} order by ${rows.chain_no}`;
  const summed = db
    .select({
      id: rows.id,
      slug: partners.slug,
      currency: rows.currency,
      no: rows.chain_no,
      after: rows.balance_after_cents,
      cents: sql<number>`sum(coalesce(${postings.amount_cents}, 0)) over (${chain})`.mapWith(Number).as("cents"),
    })
    .from(rows)
    .innerJoin(partners, eq(partners.id, rows.partner_id))
    .leftJoin(postings, own)
    .as("summed");
  return db
    .select()
    .from(summed)
    .where(ne(summed.after, summed.cents))
    .orderBy(summed.slug, summed.currency, summed.no);
});

/**
 * Audits the balance after each ledger transaction, which no hash covers, against the postings of its wallet's chain up
 * to it. A schema of an earlier version has no such balances.
 */
export async function checkBalancesAfter(q: Read, _input: null): Promise<WrongBalanceAfter[]> {
  return (await afterwards(q, {})).map(({ id, slug: partner, currency, after, cents: ledger_cents }) => {
    return { id, partner, currency, balance_after_cents: after, ledger_cents };
  });
}

/** Audits what is drawn on credit against the ledger. A schema of an earlier version has no credit lines. */
export async function checkCredit(q: Read, _input: null): Promise<WrongCredit[]> {
  const ledger = new Map((await drawn(q, {})).map((row) => [`${row.partner_id} ${row.currency}`, 0 - row.cents]));
  return (await credits(q, {})).flatMap(({ slug: partner, partner_id, currency, used: used_cents }) => {
    const ledger_cents = ledger.get(`${partner_id} ${currency}`) ?? 0;
    return used_cents === ledger_cents ? [] : [{ partner, currency, used_cents, ledger_cents }];
  });
}

/**
 * Audits the ledger against the balances, on one snapshot. `low` marks wallets below `minimum` (minor units, by
 * currency).
 */
export async function checkWallets(
  q: Read,
  input: { minimum: (currency: string) => number | null },
): Promise<WalletCheck> {
  const ledger = new Map((await sums(q, {})).map((row) => [`${row.account} ${row.currency}`, row.cents]));
  const checked = (await wallets(q, {})).map((wallet): CheckedWallet => {
    const { slug, partner_id, currency, balance_cents } = wallet;
    const key = `${walletAccount(partner_id)} ${currency}`;
    const ledger_cents = ledger.get(key) ?? 0;
    ledger.delete(key);
    const least = input.minimum(currency);
    const low = least !== null && balance_cents < least;
    return { partner: slug, currency, balance_cents, ledger_cents, ok: balance_cents === ledger_cents, low };
  });
  const unbalanced = (await unbalancedRows(q, {})).map((row) => row.id);
  // Postings to a wallet that does not exist would be money without an owner.
  const stray = [...ledger].some(([account, cents]) => account.startsWith("wallet:") && cents !== 0);
  return {
    ok: checked.every((wallet) => wallet.ok) && unbalanced.length === 0 && !stray,
    wallets: checked,
    unbalanced,
  };
}
