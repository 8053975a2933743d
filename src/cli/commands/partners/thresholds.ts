import type { ThresholdChange } from "../../../core/partners/thresholds.ts";
import { esimThresholds } from "../../../core/store/schema/values.ts";
import type { Context } from "../../frame/command.ts";
import { usageError } from "../../kernel/errors.ts";
import { decimalOrNone, numbers, text } from "../../kernel/input.ts";

const defaults = {
  low_data: esimThresholds.low_data.default.join(","),
  expiry_days: esimThresholds.expiry_days.default.join(","),
};

/** What `partners update` takes to set thresholds of events. */
export const thresholdOptions = {
  lowWallet: decimalOrNone(
    "--low-wallet <amount>",
    "a balance below it sends wallet.low; none: no amount does (default)",
  ),
  currency: text("--currency <code>", "of --low-wallet (left out: that of the only wallet) or --credit-line"),
  lowData: numbers(
    "--low-data <percents>",
    `of an eSIM's data, each sends esim.data_low (default ${defaults.low_data})`,
    { max: esimThresholds.low_data.most },
  ),
  expiryDays: numbers(
    "--expiry-days <days>",
    `before an eSIM expires, each sends esim.expiring (default ${defaults.expiry_days})`,
    { max: esimThresholds.expiry_days.most },
  ),
};

interface ThresholdOptions {
  slug: string;
  lowWallet: string | null | undefined;
  currency: string | undefined;
  lowData: readonly number[] | null | undefined;
  expiryDays: readonly number[] | null | undefined;
}

/** The thresholds that were asked for; null: none were. Throws a usage error where the currency is not clear. */
export async function thresholdsAsked(context: Context, asked: ThresholdOptions): Promise<ThresholdChange | null> {
  const { lowWallet, lowData, expiryDays } = asked;
  const change: ThresholdChange = {
    ...(lowData === undefined ? {} : { low_data: lowData }),
    ...(expiryDays === undefined ? {} : { expiry_days: expiryDays }),
    ...(lowWallet === undefined ? {} : { lowWallet: await walletAsked(context, asked, lowWallet) }),
  };
  return Object.keys(change).length === 0 ? null : change;
}

type WalletChange = NonNullable<ThresholdChange["lowWallet"]>;

async function walletAsked(context: Context, asked: ThresholdOptions, amount: string | null): Promise<WalletChange> {
  const typed = asked.currency?.toUpperCase();
  if (amount === null) return typed === undefined ? { currency: null } : { currency: typed, cents: null };
  const { parseAmount } = await import("../../kernel/amount.ts");
  const currency = typed ?? (await onlyCurrency(context, asked.slug));
  const cents = parseAmount(amount, currency, "--low-wallet");
  if (cents === 0) throw usageError("--low-wallet must be more than zero.", "Give an amount, or none.");
  return { currency, cents };
}

/** The currency of a partner's only wallet. Throws a usage error where it has none, or several. */
async function onlyCurrency(context: Context, slug: string): Promise<string> {
  const [{ requirePartner }, { walletBalances }] = await Promise.all([
    import("../../../core/partners/partner.ts"),
    import("../../../core/wallet/balances.ts"),
  ]);
  const { balances } = await context.withStore(async ({ store }) => {
    const { id } = await store.read(requirePartner, slug);
    return store.read(walletBalances, id);
  });
  const [only, ...others] = balances;
  if (only !== undefined && others.length === 0) return only.currency;
  const held = only === undefined ? "The partner has no wallet yet." : "The partner has wallets in several currencies.";
  throw usageError(held, "Add --currency, e.g. --low-wallet 100.00 --currency AUD.");
}
