import { Problem } from "../../../core/kernel/problem.ts";
import type { Funded } from "../../../core/wallet/fund.ts";
import type { Context } from "../../frame/command.ts";
import { CliError, usageError } from "../../kernel/errors.ts";
import { decimal, required, text } from "../../kernel/input.ts";
import { type Result, recordResult } from "../../output/result.ts";
import { shown } from "../../output/words.ts";
import { OPERATOR } from "../../place/operator.ts";
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
function fundedResult(funded: Funded): Result {
  return recordResult(funded, (sheet) => ({
    amount: sheet.money(funded.amount_cents, funded.currency),
    balance: sheet.money(funded.balance_after_cents, funded.currency),
    reference: shown(funded.reference),
    transaction: funded.transaction_id,
  }));
}

interface MoneyMove {
  partner: string;
  amount: string;
  currency: string;
  reference: string | undefined;
  /** Only for a credit: its reference may have been credited before. */
  again?: boolean;
}

/** Moves money into or out of a partner's wallet, by hand. */
export async function moveMoney(context: Context, way: "credit" | "debit", asked: MoneyMove): Promise<Result> {
  const [{ creditWallet, debitWallet }, { requirePartner }, { parseAmount }] = await Promise.all([
    import("../../../core/wallet/fund.ts"),
    import("../../../core/partners/partner.ts"),
    import("../../kernel/amount.ts"),
  ]);
  const currency = asked.currency.toUpperCase();
  const amount = parseAmount(asked.amount, currency, "--amount");
  if (amount === 0) throw usageError("--amount must be more than zero.", "Correct the amount.");
  return context.withStore(async ({ store }) => {
    const { id: partnerId } = await store.read(requirePartner, asked.partner);
    const input = { partnerId, amount, currency, reference: asked.reference ?? null, actor: OPERATOR };
    if (way === "credit") {
      const credited = store.write(creditWallet, { ...input, again: asked.again === true });
      return fundedResult(await credited.catch(refuseDuplicate));
    }
    const done = store.write(debitWallet, input).catch((error: unknown) => {
      if (!(error instanceof Problem) || error.slug !== "insufficient_balance") throw error;
      const hint = `Take out at most what is there: esimctl wallet balance --partner ${asked.partner}.`;
      throw new CliError(error.slug, error.message, hint, undefined, error);
    });
    return fundedResult(await done);
  });
}

/** Rethrows the refusal of a reference that was credited before, with what to do. */
function refuseDuplicate(error: unknown): never {
  if (!(error instanceof Problem) || error.slug !== "duplicate") throw error;
  const hint = "If this is another payment, add --again. Look first: esimctl wallet ledger.";
  throw new CliError(error.slug, error.message, hint, undefined, error);
}
