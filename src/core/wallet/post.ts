import { and, eq, sql } from "drizzle-orm";
import type { MinorUnits, OrderId, PartnerId } from "../kernel/brand.ts";
import { newId } from "../kernel/ids.ts";
import { formatMoney, minorUnits } from "../kernel/money.ts";
import { invalid, Problem } from "../kernel/problem.ts";
import { headMark, ledgerLink, linkHash, walletChain } from "../store/chain.ts";
import { insertRow } from "../store/rows.ts";
import type { LedgerKind } from "../store/schema/values.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { watchBalance } from "./low.ts";

/** A movement between a partner's wallet and a house account. */
export interface Movement {
  kind: LedgerKind;
  partnerId: PartnerId;
  currency: string;
  /** Positive; the kind says which way it goes. */
  amount: MinorUnits;
  orderId?: OrderId | null;
  reference?: string | null;
}

/** The result of a movement. */
export interface Posted {
  transactionId: string;
  balanceAfter: MinorUnits;
}

/** Which way each kind moves the wallet, and the account on the other side. */
const rules: Readonly<Record<LedgerKind, { sign: 1 | -1; against: "house:bank" | "house:sales" }>> = {
  credit: { sign: 1, against: "house:bank" },
  debit: { sign: -1, against: "house:bank" },
  charge: { sign: -1, against: "house:sales" },
  refund: { sign: 1, against: "house:sales" },
};

/** The amount of a ledger transaction as it changed the wallet. */
export function signedAmount({ kind, amount_cents }: { kind: LedgerKind; amount_cents: number }): number {
  return rules[kind].sign === 1 ? amount_cents : 0 - amount_cents;
}

/** The ledger account of a partner's wallet. */
export function walletAccount(partnerId: PartnerId): string {
  return `wallet:${partnerId}`;
}

type Key = { partner_id: PartnerId; currency: string };

/** Moves the balance and adds a row to the wallet's chain; the row lock orders writers side by side. */
const move = statement((db, t, slot: Slots<Key & { delta: number; now: number; most: number }>) => {
  const after = sql`${t.wallets.balance_cents} + cast(${slot.delta} as bigint)`;
  return db
    .update(t.wallets)
    .set({
      balance_cents: after,
      last_transaction_at: slot.now,
      chain_count: sql`${t.wallets.chain_count} + 1`,
    })
    .where(
      and(
        eq(t.wallets.partner_id, slot.partner_id),
        eq(t.wallets.currency, slot.currency),
        sql`${after} between 0 and cast(${slot.most} as bigint)`,
      ),
    )
    .returning({
      balance_cents: t.wallets.balance_cents,
      no: t.wallets.chain_count,
      previous: t.wallets.chain_hash,
      signedCount: t.wallets.signed_count,
      low_at: t.wallets.low_at,
      restored_at: t.wallets.restored_at,
      // With the movement, so that no order asks a second time: JSON by currency, null where nothing is set.
      thresholds: sql<string | null>`(select ${t.partners.low_wallet} from ${t.partners}
        where ${t.partners.id} = ${t.wallets.partner_id})`,
    });
});

const closeHead = statement((db, t, slot: Slots<Key & { hash: string; mark: string }>) =>
  db
    .update(t.wallets)
    .set({ chain_hash: slot.hash, chain_mark: slot.mark })
    .where(and(eq(t.wallets.partner_id, slot.partner_id), eq(t.wallets.currency, slot.currency))),
);

type TwoPostings = { transaction_id: string; currency: string } & Record<"own" | "against", string> &
  Record<"own_cents" | "against_cents", number>;

const insertPostings = statement((db, t, slot: Slots<TwoPostings>) => {
  const { transaction_id, currency } = slot;
  return db.insert(t.ledgerPostings).values([
    { transaction_id, currency, account: slot.own, amount_cents: slot.own_cents },
    { transaction_id, currency, account: slot.against, amount_cents: slot.against_cents },
  ]);
});

const balanceOf = statement((db, t, slot: Slots<Key>) =>
  db
    .select({ balance_cents: t.wallets.balance_cents })
    .from(t.wallets)
    .where(and(eq(t.wallets.partner_id, slot.partner_id), eq(t.wallets.currency, slot.currency))),
);

/** What the wallet holds in `currency`; 0 where it never held any. */
export async function balanceIn(q: Read, key: Key): Promise<MinorUnits> {
  return minorUnits(first(await balanceOf(q, key))?.balance_cents ?? 0);
}

/**
 * Moves money: the wallet's balance, one ledger transaction and its two postings, chained to the wallet's ledger, in
 * the caller's transaction; wallet.low where the balance falls below its threshold. Throws `insufficient_balance`
 * (contract: its four members) when the wallet would go below zero, `validation` when it would hold more than can be
 * counted exactly.
 */
export async function postMovement(tx: Tx, movement: Movement): Promise<Posted> {
  const { kind, partnerId, currency, amount } = movement;
  const { sign, against } = rules[kind];
  const key: Key = { partner_id: partnerId, currency };
  // `0 -` and not a bare minus: a negative zero is no amount.
  const delta = sign === 1 ? amount : 0 - amount;
  const moved = first(await move(tx, { ...key, delta, now: tx.now, most: Number.MAX_SAFE_INTEGER }));
  const wallet = moved ?? (await openWallet(tx, movement, delta));
  const transaction = {
    id: newId(tx),
    kind,
    partner_id: partnerId,
    order_id: movement.orderId ?? null,
    currency,
    amount_cents: amount,
    reference: movement.reference ?? null,
    created_at: tx.now,
  };
  const own = { account: walletAccount(partnerId), currency, amount_cents: delta };
  const other = { account: against, currency, amount_cents: 0 - delta };
  const hash = linkHash(ledgerLink(transaction, [own, other], wallet));
  const link = { chain_no: wallet.no, hash };
  await insertRow(tx, "ledgerTransactions", { ...transaction, balance_after_cents: wallet.balance_cents, ...link });
  const accounts = { own: own.account, against: other.account };
  const cents = { own_cents: own.amount_cents, against_cents: other.amount_cents };
  await insertPostings(tx, { transaction_id: transaction.id, currency, ...accounts, ...cents });
  const head = { chain: walletChain(partnerId, currency), count: wallet.no, hash, signedCount: wallet.signedCount };
  await closeHead(tx, { ...key, hash, mark: headMark(tx.vault, head) });
  if (moved !== null) await watchBalance(tx, key, moved, delta);
  return { transactionId: transaction.id, balanceAfter: minorUnits(wallet.balance_cents) };
}

/** A wallet after its balance was moved, and the place of the transaction in its chain. */
interface MovedWallet {
  balance_cents: number;
  no: number;
  previous: string | null;
  signedCount: number;
}

/** The first money in a currency opens its wallet; anything else that did not fit is refused here. */
async function openWallet(tx: Tx, movement: Movement, delta: number): Promise<MovedWallet> {
  const { partnerId: partner_id, currency, amount } = movement;
  const held = first(await balanceOf(tx, { partner_id, currency }));
  if (delta < 0) throw insufficientBalance(currency, held?.balance_cents ?? 0, amount);
  if (held !== null) throw invalid({ amount: ["would make the balance larger than can be counted exactly"] });
  const empty = { chain_hash: null, chain_mark: null, signed_count: 0 };
  const opened = { partner_id, currency, balance_cents: delta, last_transaction_at: tx.now };
  await insertRow(tx, "wallets", { ...opened, chain_count: 1, ...empty });
  return { balance_cents: delta, no: 1, previous: null, signedCount: 0 };
}

/** The refusal of a charge that the wallet cannot pay (contract: its four members). */
export function insufficientBalance(currency: string, balance_cents: number, required_cents: number): Problem {
  const shortfall_cents = required_cents - balance_cents;
  const members = { currency, balance_cents, required_cents, shortfall_cents };
  const [held, missing] = [balance_cents, shortfall_cents].map((cents) => formatMoney(cents, currency));
  return new Problem(
    "insufficient_balance",
    `The wallet holds ${held} ${currency}; ${missing} ${currency} is missing.`,
    {
      members,
    },
  );
}
