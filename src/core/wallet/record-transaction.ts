import type { MinorUnits, OrderId, PartnerId } from "../kernel/brand.ts";
import { newId } from "../kernel/ids.ts";
import { putOff } from "../store/batch-context.ts";
import { insert, updateRows } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import type { LedgerKind } from "../store/schema/values.ts";
import { headMark, ledgerHash, walletChain } from "../store/sealing/chain.ts";
import type { Tx } from "../store/store.ts";
import { type HeldWallet, keepWallet } from "./held.ts";

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
  topup: { sign: -1, against: "house:sales" },
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

/** What a movement changes of its wallet. */
function movedOf(tx: Tx, wallet: HeldWallet): Partial<Row<"wallets">> {
  const { partner_id, currency, balance_cents, last_transaction_at, chain_count, chain_hash } = wallet;
  const chain = walletChain(partner_id, currency);
  const head = { chain, count: chain_count, hash: chain_hash, signedCount: wallet.signed_count };
  const chain_mark = headMark(tx.vault, head);
  return { partner_id, currency, balance_cents, last_transaction_at, chain_count, chain_hash, chain_mark };
}

/** Writes what a movement changes of its wallet; of several in a batch the last one's. */
function writeMoved(tx: Tx, wallet: HeldWallet): Promise<void> {
  keepWallet(tx, wallet);
  const write = (wallets: readonly HeldWallet[]) => {
    const last = new Map(wallets.map((one) => [walletChain(one.partner_id, one.currency), movedOf(tx, one)]));
    return updateRows(tx, "wallets", [...last.values()]);
  };
  return putOff(tx, { kind: "wallets", row: wallet, write });
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
  const recorded = { ...transaction, balance_after_cents: balance, chain_no: count, hash };
  await insert(tx, "ledgerTransactions", [recorded]);
  const postings = [own, other].map((posting) => ({ transaction_id: transaction.id, ...posting }));
  await insert(tx, "ledgerPostings", postings);
  const moved = { balance_cents: balance, last_transaction_at: tx.now, chain_count: count, chain_hash: hash };
  const wallet = { ...before, ...moved };
  await writeMoved(tx, wallet);
  return { id: transaction.id, wallet };
}
