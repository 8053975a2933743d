import currencyCodes from "currency-codes";
import type { MinorUnits } from "./brand.ts";
import { counted } from "./counted.ts";
import { invalid } from "./problem.ts";

/** ISO 4217 decimals of a currency, or null when there is no such currency. */
export function currencyDecimals(code: string): number | null {
  const found = /^[A-Z]{3}$/.test(code) ? currencyCodes.code(code) : undefined;
  return found === undefined ? null : found.digits;
}

/** Decimals of a currency that must exist. Throws `validation` naming `field`. */
export function requireCurrency(code: string, field = "currency"): number {
  const decimals = currencyDecimals(code);
  if (decimals === null) throw invalid({ [field]: [`must be an ISO 4217 currency code such as AUD, not "${code}"`] });
  return decimals;
}

/** An integer as minor units. Throws when it is beyond what a double holds exactly. */
export function minorUnits(value: number): MinorUnits {
  if (!Number.isSafeInteger(value)) throw new RangeError("amount is not a safe integer of minor units");
  return value as MinorUnits; // the check above is the brand
}

/** unit × quantity, exact, or null when the total would pass MAX_SAFE_INTEGER. */
export function multiplyMoney(unit: MinorUnits, quantity: number): MinorUnits | null {
  const total = BigInt(unit) * BigInt(quantity);
  return total > BigInt(Number.MAX_SAFE_INTEGER) ? null : minorUnits(Number(total));
}

/** a + b, exact, or null when the sum would pass MAX_SAFE_INTEGER. */
export function addMoney(a: MinorUnits, b: MinorUnits): MinorUnits | null {
  const sum = a + b;
  return Number.isSafeInteger(sum) ? minorUnits(sum) : null;
}

/**
 * "1000.00" in AUD → 100000 minor units. Throws `validation` naming `field` for anything but a plain, non-negative
 * decimal with at most the currency's own number of decimals.
 */
export function parseMoney(text: string, currency: string, field = "amount"): MinorUnits {
  const decimals = requireCurrency(currency);
  const match = /^(\d{1,16})(?:\.(\d+))?$/.exec(text.trim());
  if (match === null) throw invalid({ [field]: [`must be a plain decimal such as 1000.00, not "${text}"`] });
  const fraction = match[2] ?? "";
  if (fraction.length > decimals) {
    const may = decimals === 0 ? "none" : `${decimals}`;
    throw invalid({ [field]: [`has ${counted(fraction.length, "digit")} after the point; ${currency} has ${may}`] });
  }
  const total = BigInt((match[1] ?? "0") + fraction.padEnd(decimals, "0"));
  if (total > BigInt(Number.MAX_SAFE_INTEGER)) throw invalid({ [field]: ["is too large"] });
  return minorUnits(Number(total));
}

/** 1234567 in AUD → "12,345.67": for people. */
export function groupedMoney(amount: number, currency: string): string {
  const [whole = "", fraction] = formatMoney(amount, currency).split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/**
 * A plain decimal in a currency that may have fewer decimals, rounded down: "12.50" is 12 yen. What is larger than can
 * be counted exactly is the largest that can.
 */
export function unitsOf(decimal: string, currency: string): MinorUnits {
  const decimals = currencyDecimals(currency) ?? 2;
  const [whole = "0", fraction = ""] = decimal.split(".");
  const total = BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, "0"));
  return minorUnits(Number(total > BigInt(Number.MAX_SAFE_INTEGER) ? BigInt(Number.MAX_SAFE_INTEGER) : total));
}

/** 100000 in AUD → "1000.00", with the currency's own number of decimals. */
export function formatMoney(amount: number, currency: string): string {
  const decimals = currencyDecimals(currency) ?? 2;
  const digits = Math.abs(amount)
    .toString()
    .padStart(decimals + 1, "0");
  const sign = amount < 0 ? "-" : "";
  if (decimals === 0) return sign + digits;
  return `${sign}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}
