import { and, eq, gt, gte, lte, min } from "drizzle-orm";
import type { Row } from "../store/schema/tables.ts";
import { auditLink, type Link, ledgerLink, type Place, walletOf } from "../store/sealing/chain.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";

/** Most rows of a page. */
const PAGE = 500;

/** A row of a chain as the database has it. */
export interface ChainedRow {
  no: number;
  id: string;
  hash: string | null;
  /** Rows of the ledger's postings that belong to it. */
  postings: number;
  /** What its hash covers if it is at `place`. */
  linkAt(place: Place): Link;
}

/** Rows of one chain behind the row `after`, as far as the row `upTo`. */
export interface Stretch {
  chain: string;
  after: number;
  upTo: number;
}

const auditPage = statement((db, t, slot: Slots<Stretch>) => {
  const { chain, chain_no } = t.auditEntries;
  return db
    .select()
    .from(t.auditEntries)
    .where(and(eq(chain, slot.chain), gt(chain_no, slot.after), lte(chain_no, slot.upTo)))
    .orderBy(chain_no)
    .limit(PAGE);
});

type WalletStretch = Omit<Stretch, "chain"> & { partner_id: string; currency: string };

const ledgerPage = statement((db, t, slot: Slots<WalletStretch>) => {
  const { partner_id, currency, chain_no } = t.ledgerTransactions;
  const ofWallet = and(eq(partner_id, slot.partner_id), eq(currency, slot.currency));
  return db
    .select()
    .from(t.ledgerTransactions)
    .where(and(ofWallet, gt(chain_no, slot.after), lte(chain_no, slot.upTo)))
    .orderBy(chain_no)
    .limit(PAGE);
});

/** The postings of a page's transactions, by one statement: on PostgreSQL each costs a round trip. */
const postingsOfPage = statement((db, t, slot: Slots<WalletStretch>) => {
  const { id, partner_id, currency, chain_no } = t.ledgerTransactions;
  const ofWallet = and(eq(partner_id, slot.partner_id), eq(currency, slot.currency));
  return db
    .select({
      transaction_id: t.ledgerPostings.transaction_id,
      account: t.ledgerPostings.account,
      currency: t.ledgerPostings.currency,
      amount_cents: t.ledgerPostings.amount_cents,
    })
    .from(t.ledgerTransactions)
    .innerJoin(t.ledgerPostings, eq(t.ledgerPostings.transaction_id, id))
    .where(and(ofWallet, gt(chain_no, slot.after), lte(chain_no, slot.upTo)));
});

/** The next rows of a chain, in order, at most 500. */
export async function rowsOfChain(q: Read, stretch: Stretch): Promise<ChainedRow[]> {
  const wallet = walletOf(stretch.chain);
  if (wallet === null) return (await auditPage(q, stretch)).map(auditRow);
  const { after, upTo } = stretch;
  const rows = await ledgerPage(q, { ...wallet, after, upTo });
  const last = rows.at(-1)?.chain_no ?? after;
  const postings = await postingsOfPage(q, { ...wallet, after, upTo: last });
  const byTransaction = Map.groupBy(postings, (posting) => posting.transaction_id);
  return rows.map((row) => ledgerRow(row, byTransaction.get(row.id) ?? []));
}

function auditRow(row: Row<"auditEntries">): ChainedRow {
  const { id, hash, chain_no } = row;
  // Selected by its number.
  return { no: chain_no ?? 0, id, hash, postings: 0, linkAt: (place) => auditLink(row, place) };
}

function ledgerRow(row: Row<"ledgerTransactions">, postings: Row<"ledgerPostings">[]): ChainedRow {
  const { id, hash, chain_no } = row;
  const linkAt = (place: Place) => ledgerLink(row, postings, place);
  return { no: chain_no ?? 0, id, hash, postings: postings.length, linkAt };
}

const firstEntry = statement((db, t, slot: Slots<{ chain: string; since: number }>) =>
  db
    .select({ no: min(t.auditEntries.chain_no) })
    .from(t.auditEntries)
    .where(and(eq(t.auditEntries.chain, slot.chain), gte(t.auditEntries.at, slot.since))),
);

const firstTransaction = statement((db, t, slot: Slots<{ partner_id: string; currency: string; since: number }>) => {
  const { partner_id, currency, created_at, chain_no } = t.ledgerTransactions;
  return db
    .select({ no: min(chain_no) })
    .from(t.ledgerTransactions)
    .where(and(eq(partner_id, slot.partner_id), eq(currency, slot.currency), gte(created_at, slot.since)));
});

/** The first row of a chain from `since` (ms) on; null: there is none. A clock may have been set back on the way. */
export async function firstRowSince(q: Read, { chain, since }: { chain: string; since: number }) {
  const wallet = walletOf(chain);
  const found =
    wallet === null ? await firstEntry(q, { chain, since }) : await firstTransaction(q, { ...wallet, since });
  return first(found)?.no ?? null;
}
