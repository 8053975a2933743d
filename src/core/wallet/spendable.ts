import { and, eq } from "drizzle-orm";
import type { PartnerId } from "../kernel/brand.ts";
import { formatMoney } from "../kernel/money.ts";
import { Problem } from "../kernel/problem.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { type CreditColumns, creditOf } from "./balances.ts";

type Key = { partner_id: PartnerId; currency: string };

/** The columns of a wallet that say what can be spent from it. */
const balanceOf = statement((db, t, slot: Slots<Key>) =>
  db
    .select({
      balance_cents: t.wallets.balance_cents,
      credit_limit_cents: t.wallets.credit_limit_cents,
      credit_used_cents: t.wallets.credit_used_cents,
    })
    .from(t.wallets)
    .where(and(eq(t.wallets.partner_id, slot.partner_id), eq(t.wallets.currency, slot.currency))),
);

/** What orders may spend in `currency`: the balance, and what the credit line still allows to draw. */
export async function spendableIn(q: Read, key: Key): Promise<Spendable> {
  const held = first(await balanceOf(q, key));
  return { balance: held?.balance_cents ?? 0, credit: availableOf(held) };
}

/** What a credit line still allows to draw; null without one. */
export function availableOf(held: CreditColumns | null): number | null {
  return held === null ? null : (creditOf(held)?.available_cents ?? null);
}

/** Minor units. `credit` is null where there is no credit line. */
export interface Spendable {
  balance: number;
  credit: number | null;
}

/** What is to be taken from a wallet, in minor units. */
export interface Charged {
  currency: string;
  amount: number;
}

/** What a wallet lacks; `credit` is what can be drawn, null without a credit line (contract: its four members). */
export function insufficientBalance({ currency, amount }: Charged, { balance, credit }: Spendable): Problem {
  const shortfall_cents = amount - balance - (credit ?? 0);
  const members = {
    currency,
    balance_cents: balance,
    required_cents: amount,
    shortfall_cents,
    ...(credit === null ? {} : { available_credit_cents: credit }),
  };
  const words = (cents: number) => `${formatMoney(cents, currency)} ${currency}`;
  const drawable = credit === null ? "" : ` and ${words(credit)} can be drawn on credit`;
  const detail = `The wallet holds ${words(balance)}${drawable}; ${words(shortfall_cents)} is missing.`;
  return new Problem("insufficient_balance", detail, { members });
}
