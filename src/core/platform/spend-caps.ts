import { unitsOf } from "../kernel/money.ts";
import type { SpendCap } from "../store/schema/values.ts";

/** What orders of one currency may cost, in minor units; null: any amount. */
export interface CapsInCents {
  perOrder: number | null;
  perDay: number | null;
}

/** The caps that hold in a currency: its own, and for what it has none of, those of every currency. */
export function capsIn(caps: readonly SpendCap[], currency: string): CapsInCents {
  const own = caps.find((cap) => cap.currency === currency);
  const general = caps.find((cap) => cap.currency === null);
  const cents = (amount: string | null) => (amount === null ? null : unitsOf(amount, currency));
  return {
    perOrder: cents(own?.per_order ?? general?.per_order ?? null),
    perDay: cents(own?.per_day ?? general?.per_day ?? null),
  };
}
