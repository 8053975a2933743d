import { sql } from "drizzle-orm";
import type { PartnerId } from "../kernel/brand.ts";
import { minorUnits } from "../kernel/money.ts";
import { loader } from "../store/batch-context.ts";
import type { Row } from "../store/schema/tables.ts";
import { isListed, listOf, type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";
import { availableOf, type Charged, insufficientBalance } from "./spendable.ts";

/** A wallet as a movement finds it, with the thresholds of its partner: JSON by currency, null where none is set. */
export type HeldWallet = Omit<Row<"wallets">, "chain_mark"> & { thresholds: string | null };

/** `partners` is a list as `listOf` makes it. */
const ofPartners = statement((db, t, slot: Slots<{ partners: string }>, dialect) => {
  const { partner_id, currency, balance_cents, last_transaction_at, low_at, restored_at } = t.wallets;
  const { credit_limit_cents, credit_used_cents, chain_count, chain_hash, signed_count } = t.wallets;
  const balance = { partner_id, currency, balance_cents, last_transaction_at, low_at, restored_at };
  const rest = { credit_limit_cents, credit_used_cents, chain_count, chain_hash, signed_count };
  // With the wallet, so that no order asks a second time.
  const thresholds = sql<string | null>`(select ${t.partners.low_wallet} from ${t.partners}
    where ${t.partners.id} = ${partner_id})`;
  return db
    .select({ ...balance, ...rest, thresholds })
    .from(t.wallets)
    .where(isListed(dialect, partner_id, slot.partners));
});

/**
 * The wallets of a partner, one for each currency, for movements in the same transaction: no other transaction moves
 * money of this partner beside it (docs/decisions/0049).
 */
export const heldWallets = loader<PartnerId, HeldWallet[]>({
  async loadMany(q, partnerIds) {
    const found = Map.groupBy(await ofPartners(q, { partners: listOf(partnerIds) }), ({ partner_id }) => partner_id);
    return partnerIds.map((id) => found.get(id) ?? []);
  },
});

/** Makes the rest of a batch find the wallet as it is now. */
export function keepWallet(tx: Tx, wallet: HeldWallet): void {
  heldWallets.change(tx, wallet.partner_id, (known) => [
    ...known.filter(({ currency }) => currency !== wallet.currency),
    wallet,
  ]);
}

/** The wallet in a currency; null: it never held any. */
export function walletIn(wallets: readonly HeldWallet[], currency: string): HeldWallet | null {
  return wallets.find((wallet) => wallet.currency === currency) ?? null;
}

/**
 * What a charge has to draw on the credit line, as the balance does not cover it; 0: it does. Writes nothing. Throws
 * `insufficient_balance` (contract: its four members) where both together do not cover it.
 */
export function drawnFor(charged: Charged, wallet: HeldWallet | null): number {
  const balance = wallet?.balance_cents ?? 0;
  const lacking = charged.amount - balance;
  if (lacking <= 0) return 0;
  const credit = availableOf(wallet);
  if (credit === null || lacking > credit) throw insufficientBalance(charged, { balance, credit });
  return minorUnits(lacking);
}
