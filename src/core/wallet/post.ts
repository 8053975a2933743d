import { and, eq, sql } from "drizzle-orm";
import type { MinorUnits, PartnerId } from "../kernel/brand.ts";
import { minorUnits } from "../kernel/money.ts";
import { invalid } from "../kernel/problem.ts";
import { insert } from "../store/rows.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";
import { drawnFor, type HeldWallet, heldWallets, keepWallet, walletIn } from "./held.ts";
import { watchBalance } from "./low.ts";
import { deltaOf, type Movement, recordTransaction } from "./record-transaction.ts";
import { insufficientBalance } from "./spendable.ts";

/** The result of a movement. */
export interface Posted {
  transactionId: string;
  balanceAfter: MinorUnits;
}

/**
 * Moves money: the wallet's balance, one ledger transaction and its two postings, chained to the wallet's ledger, in
 * the caller's transaction. A charge or top-up that the balance does not cover draws the rest from the wallet's credit
 * line first; what comes in repays what is drawn. Records wallet.low where the balance falls below its threshold.
 * Throws `insufficient_balance` (contract: its four members) when the wallet would go below zero, `validation` when it
 * would hold more than can be counted exactly; nothing is written then. `known` are the partner's wallets, read in this
 * transaction and not moved since.
 */
export async function postMovement(tx: Tx, movement: Movement, known?: readonly HeldWallet[]): Promise<Posted> {
  const { kind, partnerId, currency } = movement;
  const found = walletIn(known ?? (await heldWallets.get(tx, partnerId)), currency);
  const drawn = kind === "charge" || kind === "topup" ? drawnFor(movement, found) : 0;
  requireRoom(movement, found, drawn);
  const before = found ?? (await openWallet(tx, { partner_id: partnerId, currency }));
  const funded = drawn === 0 ? before : await moveCredit(tx, movement, { wallet: before, cents: drawn });
  const { id, wallet: moved } = await recordTransaction(tx, movement, funded);
  const after = kind === "credit" || kind === "refund" ? await repay(tx, movement, moved) : moved;
  // What is drawn or repaid on credit is part of the movement, whose whole change counts.
  await watchBalance(tx, after, after.balance_cents - before.balance_cents);
  return { transactionId: id, balanceAfter: minorUnits(after.balance_cents) };
}

/** Throws where the balance would leave its bounds by a movement, with what is `drawn` for it. */
function requireRoom(movement: Movement, wallet: HeldWallet | null, drawn: number): void {
  const balance = wallet?.balance_cents ?? 0;
  const after = balance + drawn + deltaOf(movement);
  // Credit is for charges alone: a debit is short of what the wallet holds.
  if (after < 0) throw insufficientBalance(movement, { balance, credit: null });
  if (!Number.isSafeInteger(after)) {
    throw invalid({ amount: ["would make the balance larger than can be counted exactly"] });
  }
}

type Key = { partner_id: PartnerId; currency: string };

const useCredit = statement((db, t, slot: Slots<Key & { cents: number }>) =>
  db
    .update(t.wallets)
    .set({ credit_used_cents: sql`${t.wallets.credit_used_cents} + cast(${slot.cents} as bigint)` })
    .where(and(eq(t.wallets.partner_id, slot.partner_id), eq(t.wallets.currency, slot.currency))),
);

/** A use of the credit line: what is drawn, or below zero repaid. */
interface Use {
  wallet: HeldWallet;
  cents: number;
}

/** Records what is drawn or repaid for a movement, and returns the wallet after it. */
async function moveCredit(tx: Tx, { orderId, reference }: Movement, { wallet, cents }: Use): Promise<HeldWallet> {
  const { partner_id: partnerId, currency } = wallet;
  await useCredit(tx, { partner_id: partnerId, currency, cents });
  const kind = cents > 0 ? "draw" : "repayment";
  const about = { orderId: orderId ?? null, reference: reference ?? null };
  const movement = { kind, partnerId, currency, amount: minorUnits(Math.abs(cents)), ...about } as const;
  const { wallet: moved } = await recordTransaction(tx, movement, wallet);
  const after = { ...moved, credit_used_cents: wallet.credit_used_cents + cents };
  keepWallet(tx, after);
  return after;
}

/** Repays what is drawn on credit, as far as the balance goes. */
async function repay(tx: Tx, movement: Movement, wallet: HeldWallet): Promise<HeldWallet> {
  const repaid = Math.min(wallet.balance_cents, wallet.credit_used_cents);
  return repaid === 0 ? wallet : moveCredit(tx, movement, { wallet, cents: 0 - repaid });
}

/** The first money in a currency opens its wallet. */
async function openWallet(tx: Tx, key: Key): Promise<HeldWallet> {
  const empty = { balance_cents: 0, last_transaction_at: null, low_at: null, restored_at: null };
  const noCredit = { credit_limit_cents: 0, credit_used_cents: 0 };
  const opened = { ...key, ...empty, ...noCredit, chain_count: 0, chain_hash: null, signed_count: 0 };
  await insert(tx, "wallets", [{ ...opened, chain_mark: null }]);
  const wallet = { ...opened, thresholds: null };
  keepWallet(tx, wallet);
  return wallet;
}
