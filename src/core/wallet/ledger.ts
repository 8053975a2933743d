import { and, desc, eq, gte, sql } from "drizzle-orm";
import type { OrderId, PartnerId } from "../kernel/brand.ts";
import { isoTime } from "../kernel/clock.ts";
import { startOf } from "../kernel/list-filter.ts";
import { byCreation, pageOf } from "../kernel/page.ts";
import type { Row } from "../store/schema/tables.ts";
import type { LedgerKind } from "../store/schema/values.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";

/** One ledger transaction with its postings. */
export interface LedgerEntry {
  id: string;
  kind: LedgerKind;
  currency: string;
  amount_cents: number;
  order_id: OrderId | null;
  reference: string | null;
  created_at: string;
  postings: { account: string; amount_cents: number }[];
}

/** A page of a ledger, newest first. */
export interface LedgerPage {
  data: LedgerEntry[];
  next_cursor: string | null;
  count: number;
}

type Window = { partner_id: PartnerId; since: number; key: number; id: string; limit: number };

const page = statement((db, t, slot: Slots<Window>) =>
  db
    .select()
    .from(t.ledgerTransactions)
    .where(
      and(
        eq(t.ledgerTransactions.partner_id, slot.partner_id),
        gte(t.ledgerTransactions.created_at, slot.since),
        sql`(${t.ledgerTransactions.created_at}, ${t.ledgerTransactions.id}) < (${slot.key}, ${slot.id})`,
      ),
    )
    .orderBy(desc(t.ledgerTransactions.created_at), desc(t.ledgerTransactions.id))
    .limit(slot.limit),
);

const postingsOf = statement((db, t, slot: Slots<{ id: string }>) =>
  db
    .select({ account: t.ledgerPostings.account, amount_cents: t.ledgerPostings.amount_cents })
    .from(t.ledgerPostings)
    .where(eq(t.ledgerPostings.transaction_id, slot.id))
    .orderBy(t.ledgerPostings.account),
);

/** Which part of a ledger: from `since` (ms) on, before `until`. */
interface LedgerFilter {
  partnerId: PartnerId;
  limit: number;
  cursor?: string | undefined;
  since?: number | undefined;
  until?: number | undefined;
}

/** A partner's ledger, newest first. Throws `invalid_cursor`. */
export async function listLedger(q: Read, input: LedgerFilter): Promise<LedgerPage> {
  const { partnerId, limit, cursor, since, until } = input;
  const { rows, pagination } = await pageOf(
    { limit, cursor, binding: { list: "ledger", partner: partnerId, since, until }, start: startOf(until) },
    (window) => page(q, { ...window, partner_id: partnerId, since: since ?? 0 }),
    byCreation,
  );
  const entries: LedgerEntry[] = [];
  for (const { id: entryId, kind, currency, amount_cents, order_id, reference, created_at } of rows) {
    const postings = await postingsOf(q, { id: entryId });
    const at = isoTime(created_at);
    entries.push({ id: entryId, kind, currency, amount_cents, order_id, reference, created_at: at, postings });
  }
  return { data: entries, next_cursor: pagination.next_cursor, count: entries.length };
}

const ofOrder = statement((db, t, slot: Slots<{ order_id: OrderId }>) =>
  db
    .select()
    .from(t.ledgerTransactions)
    .where(eq(t.ledgerTransactions.order_id, slot.order_id))
    .orderBy(t.ledgerTransactions.id),
);

/** What moved money for an order, oldest first. */
export function transactionsOfOrder(q: Read, order_id: OrderId): Promise<Row<"ledgerTransactions">[]> {
  return ofOrder(q, { order_id });
}

type Referred = { partner_id: PartnerId; currency: string; reference: string };

/** By the index of the credits alone. */
const credited = statement((db, t, slot: Slots<Referred>) =>
  db
    .select()
    .from(t.ledgerTransactions)
    .where(
      and(
        eq(t.ledgerTransactions.partner_id, slot.partner_id),
        eq(t.ledgerTransactions.currency, slot.currency),
        // The very predicate of the index.
        sql`kind = 'credit'`,
        eq(t.ledgerTransactions.reference, slot.reference),
      ),
    )
    .orderBy(desc(t.ledgerTransactions.chain_no))
    .limit(1),
);

/** The newest credit of a wallet with exactly this reference, or null. */
export async function creditWithReference(
  q: Read,
  { partnerId, currency, reference }: { partnerId: PartnerId; currency: string; reference: string },
): Promise<Row<"ledgerTransactions"> | null> {
  return first(await credited(q, { partner_id: partnerId, currency, reference }));
}
