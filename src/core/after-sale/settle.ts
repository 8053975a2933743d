import { count, eq, min } from "drizzle-orm";
import type { Actor } from "../audit/record.ts";
import type { EsimId } from "../kernel/brand.ts";
import { isoTime } from "../kernel/clock.ts";
import { Problem } from "../kernel/problem.ts";
import type { ReturnOutcome } from "../store/schema/values.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { closeReturn, lastReturn, type ReturnAnswer, requireSold } from "./give-back.ts";
import { type Repaid, unclearRefund } from "./given-back.ts";

/** What the people at a supplier decided about an eSIM's refund. */
interface Decided {
  id: EsimId;
  granted: boolean;
  repaid?: Repaid;
  actor: Actor;
}

const GRANTED = "The supplier's people granted it.";
const DENIED = "The supplier's people denied it.";

/**
 * Records what the people at a supplier decided: granted, it is done and money follows; denied, it is not available and
 * may be asked for again. Throws `not_found`, `conflict` where no request is open, and `validation` where it has to be
 * said whether the eSIM was repaid before.
 */
export async function settleReturn(tx: Tx, { id, granted, repaid, actor }: Decided): Promise<ReturnAnswer> {
  const asked = await lastReturn(tx, { esim_id: id, kind: "refund" });
  if (asked?.outcome !== "requested") {
    const what = asked?.outcome === "done" ? "was refunded before" : "has no open request of a refund";
    throw new Problem("conflict", `The eSIM ${what}: there is nothing to settle.`);
  }
  const { id: returnId, reference } = asked;
  const returned = granted
    ? ({ outcome: "done", detail: GRANTED, reference, replacement: null } as const)
    : ({ outcome: "not_available", detail: DENIED } as const);
  return closeReturn(tx, { returnId, from: "requested", returned, repaid, actor });
}

/** A refund that people at a supplier have not decided yet, as far as is known here. */
export interface OpenRefund {
  id: EsimId;
  iccid: string;
  partner: string | null;
  supplier: string | null;
  /** The supplier's own name for the request. */
  reference: string | null;
  since: string;
}

const requested = statement((db, t, slot: Slots<{ outcome: ReturnOutcome }>) =>
  db
    .select({ asked: t.esimReturns, iccid: t.esims.iccid, supplier: t.esims.supplier, partner: t.partners.slug })
    .from(t.esimReturns)
    .innerJoin(t.esims, eq(t.esims.id, t.esimReturns.esim_id))
    .leftJoin(t.partners, eq(t.partners.id, t.esims.partner_id))
    .where(eq(t.esimReturns.outcome, slot.outcome)),
);

const counted = statement((db, t, slot: Slots<{ outcome: ReturnOutcome }>) =>
  db
    .select({ many: count(), since: min(t.esimReturns.created_at) })
    .from(t.esimReturns)
    .where(eq(t.esimReturns.outcome, slot.outcome)),
);

/** How many refunds are requested and not settled, and since when (ms) the first of them is. */
export async function countOpenRefunds(q: Read): Promise<{ many: number; since: number | null }> {
  return first(await counted(q, { outcome: "requested" })) ?? { many: 0, since: null };
}

/**
 * The open refund of an eSIM, and what went back of its order's line before where it has to be said whether that was
 * for it; null: none is open.
 */
export async function openRefund(q: Read, iccid: string): Promise<(OpenRefund & { unclear: string | null }) | null> {
  const open = (await openRefunds(q)).find((one) => one.iccid === iccid);
  return open === undefined ? null : { ...open, unclear: await unclearRefund(q, await requireSold(q, open.id)) };
}

/** The refunds that are requested and not settled, the longest waiting first. */
export async function openRefunds(q: Read): Promise<OpenRefund[]> {
  const rows = await requested(q, { outcome: "requested" });
  const sorted = rows.sort((one, other) => one.asked.created_at - other.asked.created_at);
  return sorted.map(({ asked, ...esim }) => ({
    id: asked.esim_id,
    ...esim,
    reference: asked.reference,
    since: isoTime(asked.created_at),
  }));
}
