import { and, desc, eq, sql } from "drizzle-orm";
import { type EsimAsked, requireOwnEsim } from "../esims/status.ts";
import type { EsimId, TopupId } from "../kernel/brand.ts";
import { isoTime, isoTimeOrNull } from "../kernel/clock.ts";
import type { Owner } from "../kernel/owner.ts";
import { byCreation, newestFirst, type Pagination, pageOf } from "../kernel/page.ts";
import { notFound } from "../kernel/problem.ts";
import { findByKey } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";

export type TopupRow = Row<"topups">;

/** A top-up as its partner sees it. What it waits for is the operator's to know. */
export function toTopup(row: TopupRow) {
  const { id, iccid, product_id, product_sku, price_cents, currency, status, wallet_balance_after_cents } = row;
  return {
    id,
    iccid,
    product_id,
    product_sku,
    price_cents,
    currency,
    status,
    wallet_balance_after_cents,
    created_at: isoTime(row.created_at),
    applied_at: isoTimeOrNull(row.applied_at),
    failure_reason: status === "failed" ? row.reason : null,
  };
}

export type Topup = ReturnType<typeof toTopup>;

/** The row of a top-up, of any partner. Throws `not_found`. */
export async function requireTopup(q: Read, id: TopupId): Promise<TopupRow> {
  const row = await findByKey(q, "topups", { id });
  if (row === null) throw notFound("topup");
  return row;
}

/** One of the caller's top-ups. Throws `not_found` for another's too. */
export async function showTopup(q: Read, { id, owner }: { id: TopupId; owner: Owner }): Promise<Topup> {
  const row = await requireTopup(q, id);
  if (row.partner_id !== owner.partnerId || row.environment !== owner.environment) throw notFound("topup");
  return toTopup(row);
}

type Window = { esim_id: EsimId; key: number; id: string; limit: number };

const ofEsim = statement((db, t, slot: Slots<Window>) =>
  db
    .select()
    .from(t.topups)
    .where(
      and(
        eq(t.topups.esim_id, slot.esim_id),
        sql`(${t.topups.created_at}, ${t.topups.id}) < (${slot.key}, ${slot.id})`,
      ),
    )
    .orderBy(desc(t.topups.created_at), desc(t.topups.id))
    .limit(slot.limit),
);

/** A page of the top-ups of one of the caller's eSIMs, newest first. Throws as `esimStatus` does, `invalid_cursor`. */
export async function listTopups(
  q: Read,
  { limit, cursor, ...asked }: EsimAsked & { limit: number; cursor?: string | undefined },
): Promise<{ data: Topup[]; pagination: Pagination }> {
  const { esim } = await requireOwnEsim(q, asked);
  const { rows, pagination } = await pageOf(
    { limit, cursor, binding: { list: "topups", esim: esim.id }, start: newestFirst },
    (window) => ofEsim(q, { ...window, esim_id: esim.id }),
    byCreation,
  );
  return { data: rows.map(toTopup), pagination };
}
