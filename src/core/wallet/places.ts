import { and, asc, eq, gte, lte, sql } from "drizzle-orm";
import type { PartnerId } from "../kernel/brand.ts";
import type { Tables } from "../store/schema/tables.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { type HeldWallet, heldWallets } from "./held.ts";

/**
 * How far times of the ledger may be out of order (ms): clocks of nodes differ, and a transaction is committed after
 * the moment that it carries.
 */
export const UNSETTLED_MS = 60 * 60 * 1000;

/** A place in the chain of a wallet: how many movements are before it, and what the wallet held after those. */
export interface Place {
  count: number;
  balance: number;
}

/** A wallet and the end of its chain. */
export interface ChainedWallet {
  partnerId: PartnerId;
  currency: string;
  end: Place;
}

/** The wallets of a partner, by currency. */
export async function chainedWallets(q: Read, partnerId: PartnerId): Promise<ChainedWallet[]> {
  const wallets = (await heldWallets.get(q, partnerId)).map(
    ({ currency, chain_count: count, balance_cents: balance }: HeldWallet) => {
      return { partnerId, currency, end: { count, balance } };
    },
  );
  return wallets.sort((one, other) => (one.currency < other.currency ? -1 : 1));
}

type Key = { partner_id: PartnerId; currency: string };

function ofWallet({ ledgerTransactions: rows }: Tables, slot: Slots<Key>) {
  return and(eq(rows.partner_id, slot.partner_id), eq(rows.currency, slot.currency));
}

const earliest = statement((db, t, slot: Slots<Key & { since: number }>) => {
  const { ledgerTransactions: rows } = t;
  return db
    .select({ at: rows.created_at })
    .from(rows)
    .where(and(ofWallet(t, slot), gte(rows.created_at, slot.since)))
    .orderBy(asc(rows.created_at), asc(rows.id))
    .limit(1);
});

// The sum keeps engines from walking the chain from its beginning: the index by time has a few rows of that hour.
const leastNo = statement((db, t, slot: Slots<Key & { since: number; until: number }>) => {
  const { ledgerTransactions: rows } = t;
  return db
    .select({ no: sql<number>`min(${rows.chain_no} + 0)`.mapWith(Number) })
    .from(rows)
    .where(and(ofWallet(t, slot), gte(rows.created_at, slot.since), lte(rows.created_at, slot.until)));
});

const byNo = statement((db, t, slot: Slots<Key & { no: number }>) => {
  const { ledgerTransactions: rows } = t;
  return db
    .select({ at: rows.created_at, balance: rows.balance_after_cents })
    .from(rows)
    .where(and(ofWallet(t, slot), eq(rows.chain_no, slot.no)));
});

/** The movement of this number in the chain. Throws where the chain has none. */
export async function numberedMovement(q: Read, { partnerId, currency }: ChainedWallet, no: number) {
  const found = first(await byNo(q, { partner_id: partnerId, currency, no }));
  if (found === null) throw new Error(`the ledger of partner ${partnerId} in ${currency} has no transaction ${no}`);
  return found;
}

/**
 * The place in the chain at which a moment (ms) begins: before the first movement of that moment or later. What follows
 * there belongs to the time after it, also where the clock of its node was a little behind: so the place stays where it
 * is, whatever is recorded later.
 */
export async function placeOf(q: Read, wallet: ChainedWallet, moment: number): Promise<Place> {
  const key = { partner_id: wallet.partnerId, currency: wallet.currency };
  const found = first(await earliest(q, { ...key, since: moment }));
  if (found === null) return wallet.end;
  const least = first(await leastNo(q, { ...key, since: found.at, until: found.at + UNSETTLED_MS }));
  const count = (least?.no ?? 1) - 1;
  return count === 0 ? { count, balance: 0 } : { count, balance: (await numberedMovement(q, wallet, count)).balance };
}
