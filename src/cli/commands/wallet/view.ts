import type { Funded } from "../../../core/wallet/fund.ts";
import { decimal, required, text } from "../../kernel/input.ts";
import { type Result, recordResult } from "../../output/result.ts";
import { shown } from "../../output/words.ts";
import { partnerOption } from "../../place/partner-options.ts";

/** The keys of what credit and debit print. */
export const FUNDED_JSON = "{transaction_id, currency, amount_cents, balance_after_cents, reference}";

/** What credit and debit take. */
export const fundingOptions = {
  partner: partnerOption,
  amount: required(decimal("--amount <amount>", "a plain decimal, e.g. 1000.00")),
  currency: required(text("--currency <code>", "ISO 4217, e.g. AUD")),
  reference: text("--reference <text>", "a text that identifies the transfer"),
};

/** A movement as credit and debit print it. */
export function fundedResult(funded: Funded): Result {
  return recordResult(funded, (sheet) => ({
    amount: sheet.money(funded.amount_cents, funded.currency),
    balance: sheet.money(funded.balance_after_cents, funded.currency),
    reference: shown(funded.reference),
    transaction: funded.transaction_id,
  }));
}
