import type { MinorUnits, OrderId, PartnerId } from "../kernel/brand.ts";
import { newId } from "../kernel/ids.ts";
import { updateRows } from "../store/rows.ts";
import { gathersRows, insertLast, writeLastTogether } from "../store/run-memory.ts";
import type { Row } from "../store/schema/tables.ts";
import type { LedgerKind } from "../store/schema/values.ts";
import { headMark, ledgerHash, walletChain } from "../store/sealing/chain.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";
import { type HeldWallet, rememberWallet } from "./held.ts";

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

/** Which way each kind moves the wallet, and the account on the other side. */
const rules: Readonly<Record<LedgerKind, { sign: 1 | -1; against: "house:bank" | "house:sales" | "house:credit" }>> = {
  credit: { sign: 1, against: "house:bank" },
  debit: { sign: -1, against: "house:bank" },
  charge: { sign: -1, against: "house:sales" },
  refund: { sign: 1, against: "house:sales" },
  draw: { sign: 1, against: "house:credit" },
  repayment: { sign: -1, against: "house:credit" },
};

/** The amount of a ledger transaction as it changed the wallet. */
export function signedAmount({ kind, amount_cents }: { kind: LedgerKind; amount_cents: number }): number {
  return rules[kind].sign === 1 ? amount_cents : 0 - amount_cents;
}

/** The ledger account of a partner's wallet. */
export function walletAccount(partnerId: PartnerId): string {
  return `wallet:${partnerId}`;
}

/** What the movement adds to the balance. */
export function deltaOf({ kind, amount }: Movement): number {
  // `0 -` and not a bare minus: a negative zero is no amount.
  return rules[kind].sign === 1 ? amount : 0 - amount;
}

type TwoPostings = { transaction_id: string; currency: string } & Record<"own" | "against", string> &
  Record<"own_cents" | "against_cents", number>;

const insertPostings = statement((db, t, slot: Slots<TwoPostings>) => {
  const { transaction_id, currency } = slot;
  return db.insert(t.ledgerPostings).values([
    { transaction_id, currency, account: slot.own, amount_cents: slot.own_cents },
    { transaction_id, currency, account: slot.against, amount_cents: slot.against_cents },
  ]);
});

type Posting = Omit<Row<"ledgerPostings">, "transaction_id">;

/** Both postings of a transaction by one statement, or with those of others. */
async function post(tx: Tx, transaction_id: string, [own, other]: readonly [Posting, Posting]): Promise<void> {
  if (gathersRows(tx)) {
    for (const posting of [own, other]) await insertLast(tx, "ledgerPostings", { transaction_id, ...posting });
    return;
  }
  const accounts = { own: own.account, against: other.account };
  const cents = { own_cents: own.amount_cents, against_cents: other.amount_cents };
  await insertPostings(tx, { transaction_id, currency: own.currency, ...accounts, ...cents });
}

/** What a movement changes of its wallet. */
function movedOf(tx: Tx, wallet: HeldWallet): Partial<Row<"wallets">> {
  const { partner_id, currency, balance_cents, last_transaction_at, chain_count, chain_hash } = wallet;
  const chain = walletChain(partner_id, currency);
  const head = { chain, count: chain_count, hash: chain_hash, signedCount: wallet.signed_count };
  const chain_mark = headMark(tx.vault, head);
  return { partner_id, currency, balance_cents, last_transaction_at, chain_count, chain_hash, chain_mark };
}

/** Writes what a movement changes of its wallet; of several in a run the last one's. */
function writeMoved(tx: Tx, wallet: HeldWallet): Promise<void> {
  rememberWallet(tx, wallet);
  const write = (wallets: readonly HeldWallet[]) =>
    updateRows(
      tx,
      "wallets",
      wallets.map((one) => movedOf(tx, one)),
    );
  return writeLastTogether(tx, wallet, {
    kind: "wallets",
    key: walletChain(wallet.partner_id, wallet.currency),
    write,
  });
}

/** A ledger transaction, and the wallet after it. */
interface Recorded {
  id: string;
  wallet: HeldWallet;
}

/**
 * Writes the ledger transaction of a movement with its postings, and moves the wallet: its balance and the head of its
 * chain. The place in the chain is taken once: a second transaction there is refused by the ledger's own index.
 */
export async function recordTransaction(tx: Tx, movement: Movement, before: HeldWallet): Promise<Recorded> {
  const { kind, partnerId: partner_id, currency, amount } = movement;
  const delta = deltaOf(movement);
  const transaction = {
    id: newId(tx),
    kind,
    partner_id,
    order_id: movement.orderId ?? null,
    currency,
    amount_cents: amount,
    reference: movement.reference ?? null,
    created_at: tx.now,
  };
  const own = { account: walletAccount(partner_id), currency, amount_cents: delta };
  const other = { account: rules[kind].against, currency, amount_cents: 0 - delta };
  const count = before.chain_count + 1;
  const hash = ledgerHash(transaction, [own, other], { no: count, previous: before.chain_hash });
  const balance = before.balance_cents + delta;
  await insertLast(tx, "ledgerTransactions", { ...transaction, balance_after_cents: balance, chain_no: count, hash });
  await post(tx, transaction.id, [own, other]);
  const moved = { balance_cents: balance, last_transaction_at: tx.now, chain_count: count, chain_hash: hash };
  const wallet = { ...before, ...moved };
  await writeMoved(tx, wallet);
  return { id: transaction.id, wallet };
}
