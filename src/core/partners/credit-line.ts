import { and, asc, eq, gt, or } from "drizzle-orm";
import type { PartnerId } from "../kernel/brand.ts";
import { requireCurrency } from "../kernel/money.ts";
import { invalid } from "../kernel/problem.ts";
import { insert } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import type { FieldChange } from "../store/schema/values.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { type Credit, creditOf } from "../wallet/balances.ts";

/** What the orders of a partner may draw in one currency: minor units. */
export interface CreditLine extends Credit {
  currency: string;
}

type Key = { partner_id: PartnerId; currency: string };

const walletOf = statement((db, t, slot: Slots<Key>) =>
  db
    .select()
    .from(t.wallets)
    .where(and(eq(t.wallets.partner_id, slot.partner_id), eq(t.wallets.currency, slot.currency))),
);

const write = statement((db, t, slot: Slots<Key & { limit: number }>) =>
  db
    .update(t.wallets)
    .set({ credit_limit_cents: slot.limit })
    .where(and(eq(t.wallets.partner_id, slot.partner_id), eq(t.wallets.currency, slot.currency))),
);

/** A credit line to be set, in minor units; 0: none. */
export interface NewCreditLine {
  currency: string;
  cents: number;
}

/**
 * Sets what orders may draw in one currency; the result is what changed, for the audit trail. What is drawn above a new
 * limit stays drawn. Throws `validation`.
 */
export async function setCreditLine(
  tx: Tx,
  partner_id: PartnerId,
  { currency, cents }: NewCreditLine,
): Promise<FieldChange[]> {
  requireCurrency(currency);
  if (!Number.isSafeInteger(cents) || cents < 0) throw invalid({ credit_line: ["must be an amount, 0 or more"] });
  const key: Key = { partner_id, currency };
  const before = first(await walletOf(tx, key));
  if (before !== null) await write(tx, { ...key, limit: cents });
  else if (cents > 0) {
    const empty = { balance_cents: 0, last_transaction_at: null, credit_used_cents: 0 };
    const chain = { chain_count: 0, chain_hash: null, chain_mark: null, signed_count: 0 };
    await insert(tx, "wallets", [{ ...key, ...empty, ...chain, credit_limit_cents: cents }]);
  }
  const from = before?.credit_limit_cents ?? 0;
  return from === cents ? [] : [{ field: `credit_line_cents ${currency}`, from, to: cents }];
}

const lines = statement((db, t, _slot) =>
  db
    .select()
    .from(t.wallets)
    .where(or(gt(t.wallets.credit_limit_cents, 0), gt(t.wallets.credit_used_cents, 0)))
    .orderBy(asc(t.wallets.partner_id), asc(t.wallets.currency)),
);

const linesOfOne = statement((db, t, slot: Slots<{ partner_id: PartnerId }>) =>
  db.select().from(t.wallets).where(eq(t.wallets.partner_id, slot.partner_id)).orderBy(asc(t.wallets.currency)),
);

/** The credit lines of one partner, by currency. */
export async function creditLinesOf(q: Read, partner_id: PartnerId): Promise<CreditLine[]> {
  return (await linesOfOne(q, { partner_id })).flatMap(toLine);
}

/** The credit lines of every partner that has some. */
export async function allCreditLines(q: Read): Promise<Map<PartnerId, CreditLine[]>> {
  const of = new Map<PartnerId, CreditLine[]>();
  for (const row of await lines(q, {})) of.set(row.partner_id, [...(of.get(row.partner_id) ?? []), ...toLine(row)]);
  return of;
}

function toLine(row: Row<"wallets">): CreditLine[] {
  const credit = creditOf(row);
  return credit === null ? [] : [{ currency: row.currency, ...credit }];
}
