import { recordAudit } from "../audit/record.ts";
import type { MinorUnits, PartnerId } from "../kernel/brand.ts";
import { isoTime } from "../kernel/clock.ts";
import { formatMoney, requireCurrency } from "../kernel/money.ts";
import { invalid, Problem } from "../kernel/problem.ts";
import type { Tx } from "../store/store.ts";
import { creditWithReference } from "./ledger.ts";
import { postMovement } from "./post.ts";

/** An amount to credit to or debit from a wallet, positive either way. */
export interface Funding {
  partnerId: PartnerId;
  amount: MinorUnits;
  currency: string;
  reference?: string | null;
  actor: string;
}

/** The result of `wallet credit` and `wallet debit`. */
export interface Funded {
  transaction_id: string;
  currency: string;
  amount_cents: number;
  balance_after_cents: number;
  reference: string | null;
}

/**
 * Records a payment and credits a wallet. Throws `validation` for a bad currency or amount; `duplicate` when a credit
 * of this wallet has the reference already, unless `again`.
 */
export async function creditWallet(tx: Tx, input: Funding & { again?: boolean }): Promise<Funded> {
  const { partnerId, currency, again = false } = input;
  const reference = input.reference?.trim() || null;
  const known = again || reference === null ? null : await creditWithReference(tx, { partnerId, currency, reference });
  if (known !== null) {
    const words = `The reference ${reference} was credited before, on ${isoTime(known.created_at).slice(0, 10)}:`;
    throw new Problem("duplicate", `${words} ${formatMoney(known.amount_cents, currency)} ${currency}.`);
  }
  return fund(tx, "credit", { ...input, reference });
}

/** Debits a wallet for a repayment or a correction. Throws `insufficient_balance` rather than going below zero. */
export async function debitWallet(tx: Tx, input: Funding): Promise<Funded> {
  return fund(tx, "debit", input);
}

async function fund(tx: Tx, kind: "credit" | "debit", input: Funding): Promise<Funded> {
  requireCurrency(input.currency);
  if (input.amount <= 0) throw invalid({ amount: ["must be more than zero"] });
  const { partnerId, currency, amount, reference = null } = input;
  const posted = await postMovement(tx, { kind, partnerId, currency, amount, reference });
  await recordAudit(tx, {
    actor: input.actor,
    action: `wallet.${kind}`,
    targetKind: "ledger_transaction",
    targetId: posted.transactionId,
    partnerId,
    note: `${formatMoney(amount, currency)} ${currency}`,
  });
  return {
    transaction_id: posted.transactionId,
    currency,
    amount_cents: amount,
    balance_after_cents: posted.balanceAfter,
    reference,
  };
}
