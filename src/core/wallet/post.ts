import { and, eq, sql } from "drizzle-orm";
import type { MinorUnits, PartnerId } from "../kernel/brand.ts";
import { minorUnits } from "../kernel/money.ts";
import { invalid } from "../kernel/problem.ts";
import { insertRow } from "../store/rows.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";
import { type Moved, watchBalance } from "./low.ts";
import { deltaOf, type Movement, type Place, recordTransaction } from "./record-transaction.ts";
import { availableOf, balanceOf, insufficientBalance, spendableIn } from "./spendable.ts";

/** The result of a movement. */
export interface Posted {
  transactionId: string;
  balanceAfter: MinorUnits;
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
      credit_used_cents: t.wallets.credit_used_cents,
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

/**
 * Moves money: the wallet's balance, one ledger transaction and its two postings, chained to the wallet's ledger, in
 * the caller's transaction. A charge that the balance does not cover draws the rest from the wallet's credit line
 * first; what comes in repays what is drawn. Records wallet.low where the balance falls below its threshold. Throws
 * `insufficient_balance` (contract: its four members) when the wallet would go below zero, `validation` when it would
 * hold more than can be counted exactly.
 */
export async function postMovement(tx: Tx, movement: Movement): Promise<Posted> {
  const { kind, partnerId, currency } = movement;
  const moved = await moveBalance(tx, movement);
  const { wallet, drawn } = moved === null ? await moveOtherwise(tx, movement) : { wallet: moved, drawn: 0 };
  const transactionId = await recordTransaction(tx, movement, wallet);
  const repaid = kind === "credit" || kind === "refund" ? await repay(tx, movement, wallet) : 0;
  const after = { ...wallet, balance_cents: wallet.balance_cents - repaid };
  // What is drawn or repaid on credit is part of another movement, whose whole change counts.
  const whole = kind !== "draw" && kind !== "repayment";
  if (whole) await watchBalance(tx, { partner_id: partnerId, currency }, after, deltaOf(movement) + drawn - repaid);
  return { transactionId, balanceAfter: minorUnits(after.balance_cents) };
}

/** The wallet after the movement; null: it does not exist, or the balance would leave its bounds. */
async function moveBalance(tx: Tx, movement: Movement): Promise<MovedWallet | null> {
  const key: Key = { partner_id: movement.partnerId, currency: movement.currency };
  return first(await move(tx, { ...key, delta: deltaOf(movement), now: tx.now, most: Number.MAX_SAFE_INTEGER }));
}

/** Opens the wallet, or draws on credit; `drawn` is how much. Throws where neither is possible. */
async function moveOtherwise(tx: Tx, movement: Movement): Promise<{ wallet: MovedWallet; drawn: number }> {
  const drawn = movement.kind === "charge" ? await draw(tx, movement) : 0;
  const moved = drawn === 0 ? null : await moveBalance(tx, movement);
  return { wallet: moved ?? (await openWallet(tx, movement, deltaOf(movement))), drawn };
}

type CreditChange = Key & { cents: number };

const useCredit = statement((db, t, slot: Slots<CreditChange>) =>
  db
    .update(t.wallets)
    .set({ credit_used_cents: sql`${t.wallets.credit_used_cents} + cast(${slot.cents} as bigint)` })
    .where(and(eq(t.wallets.partner_id, slot.partner_id), eq(t.wallets.currency, slot.currency))),
);

/** Draws what the balance lacks for a charge from the credit line, and returns it; 0: the line does not cover it. */
async function draw(tx: Tx, { partnerId, currency, amount, orderId, reference }: Movement): Promise<number> {
  const { balance, credit } = await spendableIn(tx, { partner_id: partnerId, currency });
  const lacking = minorUnits(amount - balance);
  if (credit === null || lacking > credit) return 0;
  await useCredit(tx, { partner_id: partnerId, currency, cents: lacking });
  const about = { orderId: orderId ?? null, reference: reference ?? null };
  await postMovement(tx, { kind: "draw", partnerId, currency, amount: lacking, ...about });
  return lacking;
}

/** Repays what is drawn on credit, as far as the balance goes; the result is how much that was. */
async function repay(tx: Tx, movement: Movement, { balance_cents, credit_used_cents }: MovedWallet): Promise<number> {
  const repaid = minorUnits(Math.min(balance_cents, credit_used_cents));
  if (repaid === 0) return 0;
  const { partnerId, currency, orderId, reference } = movement;
  await useCredit(tx, { partner_id: partnerId, currency, cents: 0 - repaid });
  const about = { orderId: orderId ?? null, reference: reference ?? null };
  await postMovement(tx, { kind: "repayment", partnerId, currency, amount: repaid, ...about });
  return repaid;
}

/** A wallet after its balance was moved, and the place of the transaction in its chain. */
interface MovedWallet extends Moved, Place {
  credit_used_cents: number;
}

/** The first money in a currency opens its wallet; anything else that did not fit is refused here. */
async function openWallet(tx: Tx, movement: Movement, delta: number): Promise<MovedWallet> {
  const { partnerId: partner_id, currency } = movement;
  const held = first(await balanceOf(tx, { partner_id, currency }));
  // Credit is for charges alone: a debit is short of what the wallet holds.
  const credit = movement.kind === "charge" ? availableOf(held) : null;
  if (delta < 0) throw insufficientBalance(movement, { balance: held?.balance_cents ?? 0, credit });
  if (held !== null) throw invalid({ amount: ["would make the balance larger than can be counted exactly"] });
  const empty = { chain_hash: null, chain_mark: null, signed_count: 0 };
  const noCredit = { credit_limit_cents: 0, credit_used_cents: 0 };
  const opened = { partner_id, currency, balance_cents: delta, last_transaction_at: tx.now, ...noCredit };
  await insertRow(tx, "wallets", { ...opened, chain_count: 1, ...empty });
  const unwatched = { low_at: null, restored_at: null, thresholds: null };
  return { balance_cents: delta, credit_used_cents: 0, no: 1, previous: null, signedCount: 0, ...unwatched };
}
