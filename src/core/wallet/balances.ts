import { eq } from "drizzle-orm";
import type { PartnerId } from "../kernel/brand.ts";
import { isoTimeOrNull } from "../kernel/clock.ts";
import type { Row } from "../store/schema/tables.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";

/** Contract: Wallet balance. */
export interface WalletBalances {
  balances: WalletBalance[];
  count: number;
}

/** What a wallet holds in one currency. */
export interface WalletBalance {
  currency: string;
  balance_cents: number;
  last_transaction_at: string | null;
  /** Where there is a credit line, or something is still drawn on one. */
  credit?: Credit;
}

/** What may be drawn, what is drawn, and what can still be drawn: minor units. */
export interface Credit {
  limit_cents: number;
  used_cents: number;
  available_cents: number;
}

/** What a wallet's row says of its credit line. */
export type CreditColumns = Pick<Row<"wallets">, "credit_limit_cents" | "credit_used_cents">;

/** The credit of a wallet's row; null: it has none. */
export function creditOf({ credit_limit_cents: limit, credit_used_cents: used }: CreditColumns): Credit | null {
  if (limit === 0 && used === 0) return null;
  return { limit_cents: limit, used_cents: used, available_cents: Math.max(0, limit - used) };
}

const ofPartner = statement((db, t, slot: Slots<{ partner_id: PartnerId }>) =>
  db.select().from(t.wallets).where(eq(t.wallets.partner_id, slot.partner_id)).orderBy(t.wallets.currency),
);

/** What a partner's wallet holds, by currency (contract: GET /balance). */
export async function walletBalances(q: Read, partnerId: PartnerId): Promise<WalletBalances> {
  const balances = (await ofPartner(q, { partner_id: partnerId })).map(toBalance);
  return { balances, count: balances.length };
}

function toBalance(row: Row<"wallets">): WalletBalance {
  const credit = creditOf(row);
  return {
    currency: row.currency,
    balance_cents: row.balance_cents,
    last_transaction_at: isoTimeOrNull(row.last_transaction_at),
    ...(credit === null ? {} : { credit }),
  };
}

const ofAll = statement((db, t, _slot) =>
  db
    .select({ partner: t.partners.slug, wallet: t.wallets })
    .from(t.wallets)
    .innerJoin(t.partners, eq(t.partners.id, t.wallets.partner_id))
    .orderBy(t.partners.slug, t.wallets.currency),
);

/** A balance with the slug of its partner. */
export type PartnerBalance = WalletBalance & { partner: string };

/** What all wallets hold, by partner and currency. */
export async function allBalances(q: Read, _input: null): Promise<PartnerBalance[]> {
  return (await ofAll(q, {})).map(({ partner, wallet }) => ({ partner, ...toBalance(wallet) }));
}
