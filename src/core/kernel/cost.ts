import type { Cost, MinorUnits } from "./brand.ts";
import { currencyDecimals, minorUnits } from "./money.ts";
import { invalid } from "./problem.ts";

/** Decimals of a cost in any currency. */
const COST_DECIMALS = 4;
const ONE = 10_000;

/** An integer of 1/10,000 of a currency as a cost. Throws when it is beyond what a double holds exactly. */
export function costOf(value: number): Cost {
  if (!Number.isSafeInteger(value)) throw new RangeError("a cost is not a safe integer of 1/10,000");
  return value as Cost; // the check above is the brand
}

/**
 * A plain decimal, as people type it and providers send it ("1.2345", 2.28), as a cost; further decimals are rounded
 * half up. Null: it is none, is below zero, or is too large to be counted exactly.
 */
export function readCost(decimal: string | number): Cost | null {
  const match = /^(\d{1,15})(?:\.(\d{1,20}))?$/.exec(String(decimal).trim());
  if (match === null) return null;
  const fraction = (match[2] ?? "").padEnd(COST_DECIMALS + 1, "0");
  const kept = BigInt((match[1] ?? "0") + fraction.slice(0, COST_DECIMALS));
  const total = kept + (fraction.charAt(COST_DECIMALS) >= "5" ? 1n : 0n);
  return total > BigInt(Number.MAX_SAFE_INTEGER) ? null : costOf(Number(total));
}

/** A cost as it was typed. Throws `validation` naming `field` for what is none, or has more than four decimals. */
export function parseCost(text: string, field = "cost"): Cost {
  const cost = /\.\d{5,}$/.test(text.trim()) ? null : readCost(text);
  if (cost === null) throw invalid({ [field]: [`must be a plain decimal such as 1.2345, not "${text}"`] });
  return cost;
}

/** 12345 → "1.2345", always with four decimals. */
export function formatCost(cost: number): string {
  const digits = Math.abs(cost)
    .toString()
    .padStart(COST_DECIMALS + 1, "0");
  return `${cost < 0 ? "-" : ""}${digits.slice(0, -COST_DECIMALS)}.${digits.slice(-COST_DECIMALS)}`;
}

/** A cost in minor units of its currency, rounded half up, away from zero below it. */
export function costInCents(cost: number, currency: string): MinorUnits {
  return minorUnits(rounded(BigInt(cost) * 10n ** BigInt(currencyDecimals(currency) ?? 2), BigInt(ONE)));
}

/** A cost in another currency, with a markup. */
export interface Conversion {
  cost: number;
  /** Units of the price's currency for one of the cost's: a plain decimal. */
  rate: string;
  /** Hundredths of a percent on the cost. */
  markupPoints: number;
  currency: string;
}

/** The price of a cost: × rate × (1 + markup), rounded half up once. Null: too large to be counted exactly. */
export function priceOfCost({ cost, rate, markupPoints, currency }: Conversion): MinorUnits | null {
  const [whole = "0", fraction = ""] = rate.split(".");
  const top = BigInt(cost) * BigInt(whole + fraction) * BigInt(10_000 + markupPoints);
  const scaled = top * 10n ** BigInt(currencyDecimals(currency) ?? 2);
  const price = rounded(scaled, BigInt(ONE) * 10_000n * 10n ** BigInt(fraction.length));
  return Number.isSafeInteger(price) ? minorUnits(price) : null;
}

function rounded(value: bigint, by: bigint): number {
  const sign = value < 0n ? -1n : 1n;
  return Number(sign * ((value * sign * 2n + by) / (2n * by)));
}
