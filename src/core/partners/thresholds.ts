import { requireCurrency } from "../kernel/money.ts";
import { type FieldErrors, invalid } from "../kernel/problem.ts";
import { thresholdsOf } from "../platform/partner-thresholds.ts";
import type { Row } from "../store/schema/tables.ts";
import { type EsimThreshold, esimThresholds, MOST_THRESHOLDS } from "../store/schema/values.ts";
import type { Tx } from "../store/store.ts";
import { forgetLow } from "../wallet/low.ts";

/** Thresholds to set; what is left out stays. */
export interface ThresholdChange {
  /** `cents` null: none for the currency. `currency` null: none for any. */
  lowWallet?: { currency: string; cents: number | null } | { currency: null };
  /** Percents, and days; null goes back to the default, an empty list is none. */
  low_data?: readonly number[] | null;
  expiry_days?: readonly number[] | null;
}

type Changed = Partial<Pick<Row<"partners">, "low_wallet" | EsimThreshold>>;

/** The columns of a partner with these thresholds. Throws `validation` for numbers out of their range. */
export async function changeThresholds(tx: Tx, row: Row<"partners">, change: ThresholdChange): Promise<Changed> {
  const errors: FieldErrors = {};
  const lists = Object.entries(esimThresholds).flatMap(([name, { most }]) => {
    // The names of a record are its keys.
    const given = change[name as EsimThreshold];
    if (given === undefined) return [];
    const fits = (number: number) => Number.isInteger(number) && number >= 1 && number <= most;
    if (given !== null && !(given.length <= MOST_THRESHOLDS && given.every(fits))) {
      errors[name] = [`must be at most ${MOST_THRESHOLDS} whole numbers from 1 to ${most}`];
    }
    // Percents rise, and days fall, as time goes on.
    const sign = name === "expiry_days" ? -1 : 1;
    return [[name, given === null ? null : [...new Set(given)].sort((a, b) => sign * (a - b))]];
  });
  if (Object.keys(errors).length > 0) throw invalid(errors);
  const { lowWallet } = change;
  const wallet = lowWallet === undefined ? {} : { low_wallet: await lowWalletAfter(tx, row, lowWallet) };
  return { ...Object.fromEntries(lists), ...wallet };
}

type LowWallet = NonNullable<ThresholdChange["lowWallet"]>;

async function lowWalletAfter(tx: Tx, row: Row<"partners">, asked: LowWallet): Promise<Record<string, number> | null> {
  const before = thresholdsOf(row).low_wallet;
  if (asked.currency === null) return null;
  const { currency, cents } = asked;
  requireCurrency(currency);
  if (cents !== null && !(Number.isSafeInteger(cents) && cents > 0)) {
    throw invalid({ low_wallet: ["must be more than zero"] });
  }
  if (cents === (before[currency] ?? null)) return row.low_wallet;
  await forgetLow(tx, { partner_id: row.id, currency });
  const { [currency]: _replaced, ...others } = before;
  const after = cents === null ? others : { ...others, [currency]: cents };
  return Object.keys(after).length === 0 ? null : after;
}
