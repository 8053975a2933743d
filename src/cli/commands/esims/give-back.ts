import type { ReturnAnswer } from "../../../core/after-sale/give-back.ts";
import type { Repaid } from "../../../core/after-sale/given-back.ts";
import { formatMoney } from "../../../core/kernel/money.ts";
import type { ReturnKind } from "../../../core/store/schema/values.ts";
import type { Context } from "../../frame/command.ts";
import { exitCodes } from "../../kernel/exit-codes.ts";
import { type Result, recordResult } from "../../output/result.ts";
import { moment } from "../../output/words.ts";
import { OPERATOR } from "../../place/operator.ts";
import { usingProviders } from "../../place/providers.ts";
import { esimAtHand } from "../../place/records-at-hand.ts";
import { whose } from "../../place/whose.ts";

/** The keys of what `esims refund` and `esims replace` print. */
export const RETURN_JSON = "{iccid, outcome: done | requested | not_available, amount_cents, currency, detail}";

interface GiveBackRequest {
  given: string;
  kind: ReturnKind;
  repaid?: Repaid;
  /** What is asked before: about an eSIM and its supplier. */
  question: (iccid: string, supplier: string) => string;
}

/** Asks an eSIM's supplier for what may be asked for after its sale, once this is confirmed. */
export async function askSupplier(
  context: Context,
  { given, kind, repaid, question }: GiveBackRequest,
): Promise<Result> {
  const { giveBack } = await import("../../../daemon/gateways/suppliers/give-back.ts");
  return context.withStore(async ({ store, clock }) => {
    const esim = await esimAtHand(store, given);
    const { id, iccid, supplier, partner_id } = esim;
    const owner = await whose(store, { partner_id, environment: esim.environment ?? "production" });
    await context.confirm(question(iccid, supplier ?? "its supplier"), { whose: owner });
    const { answer, since } = await usingProviders({ store, clock }, (providers) =>
      giveBack({ store, providers }, { id, kind, repaid, actor: OPERATOR }),
    );
    return toResult(answer, since);
  });
}

/** Records what the people at the supplier decided about a refund, once this is confirmed. */
export async function settle(
  context: Context,
  { given, granted, repaid }: { given: string; granted: boolean; repaid: Repaid },
) {
  const { settleReturn } = await import("../../../core/after-sale/settle.ts");
  return context.withStore(async ({ store }) => {
    const esim = await esimAtHand(store, given);
    const { id, iccid, supplier, partner_id } = esim;
    const input = { id, granted, repaid, actor: OPERATOR };
    const { amount_cents, currency } = await store.rehearse(settleReturn, input);
    const price = `${formatMoney(amount_cents, currency)} ${currency}`;
    const owner = await whose(store, { partner_id, environment: esim.environment ?? "production" });
    const question = granted
      ? `Repay ${price} of eSIM ${iccid}, which ${supplier ?? "its supplier"} refunded, and let it expire?`
      : `Close the request to refund eSIM ${iccid}, and repay nothing?`;
    await context.confirm(question, { whose: owner });
    // What was asked for is done, whatever was decided.
    return { ...toResult(await store.write(settleReturn, input), null), exitCode: exitCodes.done };
  });
}

function toResult(answer: ReturnAnswer, since: string | null): Result {
  const { iccid, outcome, amount_cents, currency, detail } = answer;
  const before = since === null ? "" : ` before, at ${moment(since)}`;
  const shown = {
    done: `done${before}`,
    requested: `requested${before}: people decide`,
    not_available: "not available",
  }[outcome];
  const record = recordResult(
    answer,
    () => ({ iccid, outcome: shown, repaid: `${formatMoney(amount_cents, currency)} ${currency}`, detail }),
    since === null ? undefined : "This time the supplier was not asked, and nothing moved.",
  );
  return { ...record, exitCode: outcome === "not_available" ? exitCodes.failed : exitCodes.done };
}
