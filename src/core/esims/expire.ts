import { and, eq, exists, inArray, lte, ne, or, type SQL, sql } from "drizzle-orm";
import type { EsimId, PartnerId, ProductId } from "../kernel/brand.ts";
import { isoTime } from "../kernel/clock.ts";
import { assertMove } from "../kernel/state-machine.ts";
import { recordEvent } from "../outbox/record.ts";
import { findByKey } from "../store/rows.ts";
import type { EsimStatus } from "../store/schema/values.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import type { DeliveredEsim } from "./delivered.ts";
import { type EsimRow, esimTransitions } from "./esim.ts";
import { audienceOf, auditMove, type EsimMove, progressEsim } from "./life.ts";
import { dataUsage, soldIn } from "./status.ts";

/** eSIMs that one transaction expires at most, so that nothing else waits for long. */
const EXPIRIES_PER_STEP = 500;

const running = ["active", "suspended"] as const satisfies EsimStatus[];

const expire = statement((db, t, slot: Slots<{ status: EsimStatus; now: number; limit: number }>) =>
  db
    .update(t.esims)
    .set({ status: "expired" })
    .where(
      and(
        // Another node may have expired some of them meanwhile.
        ne(t.esims.status, "expired"),
        inArray(
          t.esims.id,
          db
            .select({ id: t.esims.id })
            .from(t.esims)
            .where(and(eq(t.esims.status, slot.status), lte(t.esims.expires_at, slot.now)))
            .orderBy(t.esims.expires_at, t.esims.id)
            .limit(slot.limit),
        ),
      ),
    )
    .returning(),
);

/**
 * Expires eSIMs whose validity has ended, the longest ended first, 500 at most; each with its event (contract:
 * esim.expired). Returns how many: 0 means that nothing is due any more. Safe to repeat, late or twice at once.
 */
export async function expireDueEsims(tx: Tx, _input: null): Promise<number> {
  const promised = new Map<ProductId, number>();
  let expired = 0;
  for (const status of running) {
    assertMove(esimTransitions, status, "expired");
    const rows = await expire(tx, { status, now: tx.now, limit: EXPIRIES_PER_STEP - expired });
    for (const esim of rows) {
      await recordExpired(tx, esim, { promised: await promisedMb(tx, esim.product_id, promised) });
    }
    expired += rows.length;
  }
  return expired;
}

/** An eSIM of the sandbox whose validity has ended, and when (ms). */
export interface Ended {
  id: EsimId;
  at: number;
}

interface EndedBy {
  partner_id: PartnerId;
  until: number;
  limit: number;
}

/** Whether a running eSIM of a partner's sandbox has ended: by SQL of whose, which and when. */
function isEnded({ esims }: Read["t"], of: Record<"partner_id" | "status" | "until", SQL>) {
  return and(
    eq(esims.partner_id, of.partner_id),
    eq(esims.environment, "sandbox"),
    eq(esims.status, of.status),
    lte(esims.expires_at, of.until),
  );
}

const ended = statement((db, t, slot: Slots<EndedBy & { status: EsimStatus }>) =>
  db
    .select({ id: t.esims.id, at: t.esims.expires_at })
    .from(t.esims)
    .where(isEnded(t, slot))
    .orderBy(t.esims.expires_at, t.esims.id)
    .limit(slot.limit),
);

/** The eSIMs of a partner's sandbox whose validity has ended by `until` (ms): the first ones, at most `limit`. */
export async function endedInSandbox(q: Read, input: EndedBy): Promise<Ended[]> {
  const found: Ended[] = [];
  for (const status of running) {
    for (const { id, at } of await ended(q, { ...input, status })) if (at !== null) found.push({ id, at });
  }
  return found.sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1)).slice(0, input.limit);
}

/** In SQL: whether `endedInSandbox` finds any for the partner of `partners` in the same query. */
export function hasEndedInSandbox({ db, t }: Pick<Read, "db" | "t">, until: SQL) {
  const some = running.map((status) => {
    const due = isEnded(t, { partner_id: sql`${t.partners.id}`, status: sql`${status}`, until });
    return exists(db.select({ id: t.esims.id }).from(t.esims).where(due));
  });
  return or(...some);
}

const expireOne = statement((db, t, slot: Slots<{ id: EsimId }>) =>
  db
    .update(t.esims)
    .set({ status: "expired" })
    .where(and(eq(t.esims.id, slot.id), inArray(t.esims.status, [...running])))
    .returning(),
);

/** Expires an eSIM of the sandbox as of the moment its validity ended; its event is of that moment too. */
export async function expireInSandbox(tx: Tx, { id, at }: Ended): Promise<void> {
  // Another node may have expired it meanwhile.
  const esim = first(await expireOne(tx, { id }));
  if (esim !== null) await recordExpired(tx, esim, { promised: await promisedMb(tx, esim.product_id), at });
}

/** Ends the validity of an eSIM at `at`, before its time, with esim.expired. */
export async function makeExpired(tx: Tx, known: DeliveredEsim, { actor, at }: EsimMove): Promise<DeliveredEsim> {
  await auditMove(tx, known.esim, { action: "esims.expire", actor, status: "expired" });
  const expires_at = Math.min(at, known.esim.expires_at ?? at);
  const expired = await progressEsim(tx, known, { status: "expired", status_at: at, expires_at });
  await recordExpired(tx, expired.esim, { promised: known.product.data_amount_mb });
  return expired;
}

async function promisedMb(tx: Tx, id: ProductId, known = new Map<ProductId, number>()): Promise<number> {
  const mb = known.get(id) ?? (await findByKey(tx, "products", { id }))?.data_amount_mb;
  if (mb === undefined) throw new Error("an eSIM's product is always there");
  known.set(id, mb);
  return mb;
}

async function recordExpired(
  tx: Tx,
  esim: EsimRow,
  { promised, at }: { promised: number; at?: number },
): Promise<void> {
  await recordEvent(tx, {
    kind: "esim.expired",
    ...audienceOf(esim),
    ...(at === undefined ? {} : { at }),
    data: {
      iccid: esim.iccid,
      order_id: soldIn(esim),
      status: "expired",
      // When its validity ended, not when the job ran.
      expired_at: isoTime(esim.expires_at ?? tx.now),
      data_usage: dataUsage(esim, promised),
    },
  });
}
