import { and, eq } from "drizzle-orm";
import type { PartnerId } from "../kernel/brand.ts";
import { recordEvent } from "../outbox/record.ts";
import type { Row } from "../store/schema/tables.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";
import { type HeldWallet, keepWallet } from "./held.ts";

/** How long a balance must be back before its next fall has an event. */
const RESTED_MS = 3_600_000;

type Key = { partner_id: PartnerId; currency: string };
type State = Pick<Row<"wallets">, "low_at" | "restored_at">;

const writeState = statement((db, t, slot: Slots<Key & State>) =>
  db
    .update(t.wallets)
    .set({ low_at: slot.low_at, restored_at: slot.restored_at })
    .where(and(eq(t.wallets.partner_id, slot.partner_id), eq(t.wallets.currency, slot.currency))),
);

/**
 * Records wallet.low where a movement by `delta` took a balance below its threshold, for the first time or after it was
 * at the threshold or above for an hour. The wallet is charged in production alone, whose endpoints get it.
 */
export async function watchBalance(tx: Tx, moved: HeldWallet, delta: number): Promise<void> {
  const { partner_id, currency, balance_cents, thresholds, low_at, restored_at } = moved;
  // `partners.low_wallet`, as it is stored.
  const all = thresholds === null ? {} : (JSON.parse(thresholds) as Record<string, number>);
  const threshold = all[currency];
  if (threshold === undefined || balance_cents < threshold === balance_cents - delta < threshold) return;
  if (balance_cents >= threshold) return setState(tx, moved, { low_at, restored_at: tx.now });
  const due = low_at === null || (restored_at !== null && tx.now - restored_at >= RESTED_MS);
  await setState(tx, moved, { low_at: due ? tx.now : low_at, restored_at: null });
  if (!due) return;
  const audience = { partnerId: partner_id, environment: "production", subjectId: partner_id } as const;
  const data = { currency, balance_cents, threshold_cents: threshold };
  await recordEvent(tx, { kind: "wallet.low", ...audience, data });
}

async function setState(tx: Tx, wallet: HeldWallet, state: State): Promise<void> {
  const { partner_id, currency } = wallet;
  await writeState(tx, { partner_id, currency, ...state });
  keepWallet(tx, { ...wallet, ...state });
}

/** Forgets what was sent for a wallet: its next fall below a new threshold has an event. */
export async function forgetLow(tx: Tx, wallet: Key): Promise<void> {
  await writeState(tx, { ...wallet, low_at: null, restored_at: null });
}
