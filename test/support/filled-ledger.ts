import type { PartnerId } from "../../src/core/kernel/brand.ts";
import { newId } from "../../src/core/kernel/ids.ts";
import { insert, updateRows } from "../../src/core/store/rows.ts";
import type { Store } from "../../src/core/store/store.ts";

/** Makes a wallet in AUD with so many payments of one cent, all of the present moment, past the rules of wallets. */
export async function fillLedger(store: Store, partnerId: PartnerId, count: number): Promise<void> {
  const currency = "AUD";
  await store.write(async (tx) => {
    const empty = { balance_cents: 0, last_transaction_at: tx.now, chain_count: 0, signed_count: 0 };
    await insert(tx, "wallets", [
      { partner_id: partnerId, currency, ...empty, credit_limit_cents: 0, credit_used_cents: 0 },
    ]);
    for (let from = 0; from < count; from += 1_000) {
      const numbers = Array.from({ length: Math.min(1_000, count - from) }, (_, at) => from + at + 1);
      const payment = { kind: "credit", partner_id: partnerId, currency, amount_cents: 1, hash: "none" } as const;
      const rows = numbers.map((no) => ({
        ...payment,
        id: newId(tx),
        balance_after_cents: no,
        created_at: tx.now,
        chain_no: no,
      }));
      await insert(tx, "ledgerTransactions", rows);
    }
    await updateRows(tx, "wallets", [{ partner_id: partnerId, currency, balance_cents: count, chain_count: count }]);
  }, null);
}
