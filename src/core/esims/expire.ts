import { and, eq, inArray, lte, ne } from "drizzle-orm";
import type { ProductId } from "../kernel/brand.ts";
import { isoTime } from "../kernel/clock.ts";
import { assertMove } from "../kernel/state-machine.ts";
import { recordEvent } from "../outbox/record.ts";
import { findByKey } from "../store/rows.ts";
import type { EsimStatus } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";
import { type EsimRow, esimTransitions } from "./esim.ts";
import { audienceOf } from "./life.ts";
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
    for (const esim of rows) await recordExpired(tx, esim, await promisedMb(tx, esim.product_id, promised));
    expired += rows.length;
  }
  return expired;
}

async function promisedMb(tx: Tx, id: ProductId, known: Map<ProductId, number>): Promise<number> {
  const mb = known.get(id) ?? (await findByKey(tx, "products", { id }))?.data_amount_mb;
  if (mb === undefined) throw new Error("an eSIM's product is always there");
  known.set(id, mb);
  return mb;
}

async function recordExpired(tx: Tx, esim: EsimRow, promised: number): Promise<void> {
  await recordEvent(tx, {
    kind: "esim.expired",
    ...audienceOf(esim),
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
