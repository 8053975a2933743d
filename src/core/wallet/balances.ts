import { eq } from "drizzle-orm";
import type { PartnerId } from "../kernel/brand.ts";
import { isoTimeOrNull } from "../kernel/clock.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";

/** Contract: Wallet balance. */
export interface WalletBalances {
  balances: { currency: string; balance_cents: number; last_transaction_at: string | null }[];
  count: number;
}

const ofPartner = statement((db, t, slot: Slots<{ partner_id: PartnerId }>) =>
  db.select().from(t.wallets).where(eq(t.wallets.partner_id, slot.partner_id)).orderBy(t.wallets.currency),
);

/** What a partner's wallet holds, by currency (contract: GET /balance). */
export async function walletBalances(q: Read, partnerId: PartnerId): Promise<WalletBalances> {
  const rows = await ofPartner(q, { partner_id: partnerId });
  const balances = rows.map(({ currency, balance_cents, last_transaction_at }) => ({
    currency,
    balance_cents,
    last_transaction_at: isoTimeOrNull(last_transaction_at),
  }));
  return { balances, count: balances.length };
}
