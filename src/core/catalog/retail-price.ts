import type { MinorUnits } from "../kernel/brand.ts";
import { minorUnits } from "../kernel/money.ts";
import { invalid } from "../kernel/problem.ts";

/** A markup in percent as an exact fraction: `percent` / `scale`; 12.5 % is 125 / 10. */
export interface Markup {
  readonly percent: bigint;
  readonly scale: bigint;
}

/** What is added to the wholesale price by default, in percent (contract: GET /catalog/sync). */
export const STANDARD_MARKUP = 30;

/** More than a hundred times the price is probably a typo. */
export const MOST_MARKUP = 10_000;

const FORM = /^(\d{1,5})(?:\.(\d{1,6}))?$/;

/**
 * "30" or "12.5" as a markup. Throws `validation` naming `field` for anything but a plain decimal of at most 6 decimals
 * from 0 to 10000: a suggested price below wholesale is a mistake.
 */
export function parseMarkup(text: string, field = "markup"): Markup {
  const [, whole = "", decimals = ""] = FORM.exec(text.trim()) ?? [];
  const markup = { percent: BigInt(whole + decimals), scale: 10n ** BigInt(decimals.length) };
  if (whole === "" || markup.percent > BigInt(MOST_MARKUP) * markup.scale) {
    throw invalid({ [field]: [`must be a percentage from 0 to ${MOST_MARKUP} with at most 6 decimals`] });
  }
  return markup;
}

/**
 * wholesale × (1 + markup/100), exact, rounded half up to the minor unit. Throws `validation` naming `markup` when the
 * price would be too large to be counted exactly.
 */
export function retailPrice(wholesale: MinorUnits, { percent, scale }: Markup): MinorUnits {
  const whole = 100n * scale;
  const raised = BigInt(wholesale) * (whole + percent);
  const rounded = (2n * raised + whole) / (2n * whole);
  if (rounded > BigInt(Number.MAX_SAFE_INTEGER)) throw invalid({ markup: ["makes prices too large to be counted"] });
  return minorUnits(Number(rounded));
}
