import { costOf, formatCost, readCost } from "../../../core/kernel/cost.ts";
import type { Balance, Check } from "../../../core/supply/provider.ts";

/** What an account holds, in whole units; an account on credit may be below zero. Null: it is no amount. */
export function balanceOf(amount: string | number, currency: string): Balance | null {
  const text = String(amount).trim();
  const cost = readCost(text.replace(/^-/, ""));
  const balance = cost === null ? null : costOf(text.startsWith("-") ? -cost : cost);
  return balance === null ? null : { currency: currency.toUpperCase(), balance };
}

/** What a check says of a balance. */
export function balanceCheck({ balance, currency }: Balance): Check {
  return { name: "balance", ok: balance > 0, detail: `${formatCost(balance)} ${currency}` };
}

/** The provider's clock as an answer shows it, ours, and how far apart they may be (ms). */
interface Clocks {
  at: number | null;
  now: number;
  mostMs: number;
}

/** What a check says of the provider's clock. */
export function clockCheck({ at, now, mostMs }: Clocks, words: (seconds: number, isAhead: boolean) => string): Check {
  if (at === null) return { name: "clock", ok: false, detail: "Its answer shows no time." };
  const apart = Math.abs(at - now);
  const seconds = Math.round(apart / 1_000);
  // Its time is that of the second's beginning.
  const detail = seconds <= 1 ? "Both clocks agree." : words(seconds, at > now);
  return { name: "clock", ok: apart <= mostMs, detail };
}
