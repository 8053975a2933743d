import type { MinorUnits } from "../../core/kernel/brand.ts";
import { parseMoney } from "../../core/kernel/money.ts";
import { Problem } from "../../core/kernel/problem.ts";
import { usageError } from "./errors.ts";

/** A typed amount in minor units of `currency`. Throws a usage error that names `flag`. */
export function parseAmount(typed: string, currency: string, flag: string): MinorUnits {
  try {
    return parseMoney(typed, currency);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const [[field = "", words = []] = []] = Object.entries(error.errors ?? {});
    const name = field === "currency" ? "The currency" : flag;
    throw usageError(`${name} ${words.join(" and ")}.`, "Give a plain decimal and an ISO 4217 code, e.g. 1000.00 AUD.");
  }
}

/** A typed amount in a currency that may have fewer decimals: 100.00 is 100 yen. */
export function parseAnyAmount(typed: string, currency: string, flag: string): MinorUnits {
  const short = /^\d+\.\d*$/.test(typed) ? typed.replace(/\.?0*$/, "") : typed;
  return parseAmount(short, currency, flag);
}
