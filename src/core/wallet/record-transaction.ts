import { and, eq } from "drizzle-orm";
import type { MinorUnits, OrderId, PartnerId } from "../kernel/brand.ts";
import { newId } from "../kernel/ids.ts";
import { headMark, ledgerLink, linkHash, walletChain } from "../store/chain.ts";
import { insertRow } from "../store/rows.ts";
import type { LedgerKind } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";

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

const closeHead = statement(
  (db, t, slot: Slots<{ partner_id: PartnerId; currency: string; hash: string; mark: string }>) =>
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

/** The place of a transaction in the chain of its wallet, and the balance after it. */
export interface Place {
  balance_cents: number;
  no: number;
  previous: string | null;
  signedCount: number;
}

/** Writes the ledger transaction of a movement with its postings, and closes the head of the chain. Returns its id. */
export async function recordTransaction(tx: Tx, movement: Movement, wallet: Place): Promise<string> {
  const { kind, partnerId, currency, amount } = movement;
  const delta = deltaOf(movement);
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
  const other = { account: rules[kind].against, currency, amount_cents: 0 - delta };
  const hash = linkHash(ledgerLink(transaction, [own, other], wallet));
  const link = { chain_no: wallet.no, hash };
  await insertRow(tx, "ledgerTransactions", { ...transaction, balance_after_cents: wallet.balance_cents, ...link });
  const accounts = { own: own.account, against: other.account };
  const cents = { own_cents: own.amount_cents, against_cents: other.amount_cents };
  await insertPostings(tx, { transaction_id: transaction.id, currency, ...accounts, ...cents });
  const head = { chain: walletChain(partnerId, currency), count: wallet.no, hash, signedCount: wallet.signedCount };
  await closeHead(tx, { partner_id: partnerId, currency, hash, mark: headMark(tx.vault, head) });
  return transaction.id;
}
