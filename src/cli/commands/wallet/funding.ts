import { Problem } from "../../../core/kernel/problem.ts";
import type { Context } from "../../frame/command.ts";
import { CliError, usageError } from "../../kernel/errors.ts";
import type { Result } from "../../output/result.ts";
import { OPERATOR } from "../../place/operator.ts";
import { fundedResult } from "./view.ts";

interface Asked {
  partner: string;
  amount: string;
  currency: string;
  reference: string | undefined;
}

/** Moves money into or out of a partner's wallet, by hand. */
export async function moveMoney(context: Context, way: "credit" | "debit", asked: Asked): Promise<Result> {
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
    if (way === "credit") return fundedResult(await store.write(creditWallet, input));
    const done = store.write(debitWallet, input).catch((error: unknown) => {
      if (!(error instanceof Problem) || error.slug !== "insufficient_balance") throw error;
      const hint = `Take out at most what is there: esimctl wallet balance --partner ${asked.partner}.`;
      throw new CliError(error.slug, error.message, hint, undefined, error);
    });
    return fundedResult(await done);
  });
}
