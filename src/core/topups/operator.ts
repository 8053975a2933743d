import { and, asc, eq, sql } from "drizzle-orm";
import { type Actor, recordAudit } from "../audit/record.ts";
import type { TopupId } from "../kernel/brand.ts";
import { isoTime, isoTimeOrNull } from "../kernel/clock.ts";
import { oldestFirst, type Position } from "../kernel/page.ts";
import { invalid, Problem } from "../kernel/problem.ts";
import { partnerById } from "../partners/partner.ts";
import { updateRow } from "../store/rows.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { applyTopup, failTopup } from "./end.ts";
import { requireTopup, type Topup, type TopupRow, toTopup } from "./topup.ts";

/** A top-up that waits for people: it may be bought, and its supplier has no more to say. */
export interface StuckTopup {
  id: TopupId;
  partner: string;
  iccid: string;
  product_sku: string;
  price_cents: number;
  currency: string;
  supplier: string | null;
  supplier_sku: string | null;
  reason: string | null;
  created_at: string;
}

const stuck = statement((db, t, slot: Slots<Position<number> & { limit: number }>) =>
  db
    .select({ topup: t.topups, partner: t.partners.slug })
    .from(t.topups)
    .innerJoin(t.partners, eq(t.partners.id, t.topups.partner_id))
    // Must match the partial index predicate exactly. In the sandbox only a scenario waits, and it needs no act.
    .where(
      and(
        sql`${t.topups.status} = 'paid' and ${t.topups.due_at} is null and ${t.topups.environment} = 'production'`,
        sql`(${t.topups.created_at}, ${t.topups.id}) > (${slot.key}, ${slot.id})`,
      ),
    )
    .orderBy(asc(t.topups.created_at), asc(t.topups.id))
    .limit(slot.limit),
);

/** The top-ups that wait for people, of all partners, oldest first; those after the last one of the page before. */
export async function stuckTopups(
  q: Read,
  { limit, after = oldestFirst }: { limit: number; after?: Position<number> | undefined },
): Promise<StuckTopup[]> {
  return (await stuck(q, { ...after, limit })).map(({ topup, partner }) => toStuck(topup, partner));
}

function toStuck(topup: TopupRow, partner: string): StuckTopup {
  const { id, iccid, product_sku, price_cents, currency, supplier, supplier_sku, reason } = topup;
  const bought = { product_sku, price_cents, currency, supplier, supplier_sku, reason };
  return { id, partner, iccid, ...bought, created_at: isoTime(topup.created_at) };
}

/** One top-up as the operator sees it, and whether it waits for people. Throws `not_found`. */
export async function topupInside(q: Read, id: TopupId) {
  const topup = await requireTopup(q, id);
  const { status, environment, attempts, due_at } = topup;
  const partner = (await partnerById(q, topup.partner_id)).slug;
  const isStuck = status === "paid" && environment === "production" && due_at === null;
  const applied_at = isoTimeOrNull(topup.applied_at);
  return { ...toStuck(topup, partner), status, environment, attempts, applied_at, isStuck };
}

/** What people decide of a stuck top-up: it is on the eSIM, it is not and the money goes back, or it is looked up. */
export type TopupVerdict = { verb: "complete" } | { verb: "fail"; reason: string } | { verb: "retry" };

/**
 * Does what people decided of a top-up that is not bought at this moment. A retry goes on from what is remembered: what
 * may have been done is looked up first. Throws `not_found`, `validation`, `conflict` for one that has ended, is the
 * sandbox's, or has a worker.
 */
export async function decideTopup(
  tx: Tx,
  { id, verdict, actor }: { id: TopupId; verdict: TopupVerdict; actor: Actor },
): Promise<Topup> {
  const topup = open(await requireTopup(tx, id));
  const reason = verdict.verb === "fail" ? verdict.reason.trim() : null;
  if (reason === "") throw invalid({ reason: ["must say why"] });
  const about = { targetKind: "topup", targetId: id, partnerId: topup.partner_id, note: reason };
  await recordAudit(tx, { actor, action: `topups.${verdict.verb}`, ...about });
  if (verdict.verb === "complete") return toTopup(await applyTopup(tx, topup));
  if (reason !== null) return toTopup(await failTopup(tx, topup, reason));
  const due = { attempts: 0, due_at: tx.now, leased_until: null, updated_at: tx.now };
  await updateRow(tx, "topups", { id }, due);
  tx.signal("fulfillment");
  return toTopup({ ...topup, ...due });
}

function open(topup: TopupRow): TopupRow {
  if (topup.environment === "sandbox") {
    throw new Problem("conflict", "It is a top-up of the sandbox: it stays as its scenario left it.");
  }
  // What its worker does now may be a purchase.
  if (topup.leased_until !== null) throw new Problem("conflict", "The top-up is being bought at this moment.");
  if (topup.status === "paid") return topup;
  throw new Problem("conflict", `The top-up is ${topup.status} and stays so.`, {
    members: { current_status: topup.status },
  });
}
