import { and, asc, eq, isNull, lte, sql } from "drizzle-orm";
import { soldEsim } from "../esims/delivered.ts";
import type { EsimRow } from "../esims/esim.ts";
import type { EsimId } from "../kernel/brand.ts";
import { dueKeys, dueNow } from "../platform/due-keys.ts";
import { findByKey } from "../store/rows.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { findSupplier, isProvider } from "../suppliers/supplier.ts";
import { applyLook } from "./apply-look.ts";
import { passageOf } from "./circuit.ts";
import type { EsimRef, EsimReportOf } from "./provider.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** How long after its sale an eSIM is looked up first. */
const FIRST_MS = 10 * MINUTE_MS;
/** While an eSIM is in use; what suppliers show of usage is hours old anyway. */
const ACTIVE_MS = 30 * MINUTE_MS;
/** While it waits to be used, or its data is used up. */
const IDLE_MS = 6 * HOUR_MS;
/** One that was not used for so long is looked up daily, and after the longer time no more: it lapses unused. */
const LONG_IDLE_MS = 30 * DAY_MS;
const FORGOTTEN_MS = 180 * DAY_MS;
/** How long one look may take before another worker may make it. */
const LEASE_MS = 10 * MINUTE_MS;
/** eSIMs of one notice at most: each names one. */
const MOST_NAMED = 50;

/** When an eSIM that a supplier has just delivered is looked up first (ms); null: that supplier shows nothing. */
export async function firstLook(q: Read, supplier: string): Promise<number | null> {
  const row = await findSupplier(q, supplier);
  return row !== null && isProvider(row.adapter) ? q.now + FIRST_MS : null;
}

/** When an eSIM is looked up next (ms), as it is now; null: nothing more becomes of it. */
function nextLook(esim: EsimRow, now: number): number | null {
  if (esim.status === "expired") return null;
  if (esim.activated_at !== null) {
    const { used_mb, total_mb } = esim;
    const usedUp = total_mb !== null && total_mb > 0 && (used_mb ?? 0) >= total_mb;
    return now + (esim.status === "active" && !usedUp ? ACTIVE_MS : IDLE_MS);
  }
  const age = now - (esim.assigned_at ?? esim.created_at);
  if (age >= FORGOTTEN_MS) return null;
  return now + (age >= LONG_IDLE_MS ? DAY_MS : IDLE_MS);
}

const suppliers = dueKeys<object>({
  table: (t) => sql`${t.esims}`,
  key: "supplier",
  due: "look_at",
  waits: () => sql`look_at is not null`,
});

/** Suppliers of which an eSIM is to be looked up and that can be asked, and in how many ms the next one is due. */
export async function waitingLooks(q: Read, _input: null): Promise<{ due: string[]; waitMs: number | null }> {
  const { due, waitMs } = dueNow(q, await suppliers(q, {}));
  const asked: string[] = [];
  for (const { key } of due) if (await mayAsk(q, key)) asked.push(key);
  return { due: asked, waitMs };
}

async function mayAsk(q: Read, supplier: string): Promise<boolean> {
  const row = await findSupplier(q, supplier);
  if (row === null || !isProvider(row.adapter)) return false;
  const passage = await passageOf(q, supplier);
  // While only its balance is too low to buy, it shows what was bought before.
  return !passage.open || passage.until === null;
}

/** eSIMs of one supplier that one worker looks up. */
export interface LookClaim {
  supplier: string;
  /** Until when (ms) no other worker does; at the eSIMs, the mark of this claim. */
  until: number;
  esims: { id: EsimId; ref: EsimRef }[];
}

type Claim = { supplier: string; now: number; until: number; limit: number };

const claim = statement((db, t, slot: Slots<Claim>, dialect) =>
  db
    .update(t.esims)
    .set({ look_at: slot.until })
    .where(
      dialect.among(
        t.esims.id,
        db
          .select({ id: t.esims.id })
          .from(t.esims)
          .where(and(eq(t.esims.supplier, slot.supplier), lte(t.esims.look_at, slot.now)))
          .orderBy(asc(t.esims.look_at), asc(t.esims.id))
          .limit(slot.limit),
      ),
    )
    .returning({ id: t.esims.id, iccid: t.esims.iccid, reference: t.esims.supplier_ref }),
);

/** Claims up to `limit` eSIMs of a supplier that are due, the longest due first; null: none is. */
export async function claimLooks(tx: Tx, input: { supplier: string; limit: number }): Promise<LookClaim | null> {
  const until = tx.now + LEASE_MS;
  const rows = await claim(tx, { ...input, now: tx.now, until });
  if (rows.length === 0) return null;
  return { supplier: input.supplier, until, esims: rows.map(({ id, ...ref }) => ({ id, ref })) };
}

const settle = statement((db, t, slot: Slots<{ id: EsimId; until: number; look_at: number | null }>) =>
  db
    .update(t.esims)
    .set({ look_at: slot.look_at })
    .where(and(eq(t.esims.id, slot.id), eq(t.esims.look_at, slot.until))),
);

/**
 * Applies what a supplier shows of the eSIMs of a claim, and says when each is looked up next. An eSIM that was noticed
 * or claimed again meanwhile is left to that later look. What is not in `reports` stays as it is.
 */
export async function applyLooks(tx: Tx, input: { claim: LookClaim; reports: EsimReportOf[] }): Promise<void> {
  const { supplier, until, esims } = input.claim;
  for (const { id, ref } of esims) {
    const known = await soldEsim(tx, id);
    if (known === null || known.esim.look_at !== until) continue;
    const report = input.reports.find((one) => isOf(one, ref));
    if (report !== undefined) await applyLook(tx, known, { supplier, report });
    const after = await findByKey(tx, "esims", { id });
    if (after !== null) await settle(tx, { id, until, look_at: nextLook(after, tx.now) });
  }
}

function isOf(report: EsimReportOf, { iccid, reference }: EsimRef): boolean {
  if (reference !== null && report.reference !== null) return report.reference === reference;
  return report.iccid === iccid;
}

/** Ends a claim without a look; its eSIMs are due again in `delayMs`. */
export async function postponeLooks(tx: Tx, input: { claim: LookClaim; delayMs: number }): Promise<void> {
  const { until, esims } = input.claim;
  for (const { id } of esims) await settle(tx, { id, until, look_at: tx.now + input.delayMs });
}

const noticeByReference = statement((db, t, slot: Slots<{ supplier: string; reference: string; now: number }>) =>
  db
    .update(t.esims)
    .set({ look_at: slot.now })
    .where(and(eq(t.esims.supplier, slot.supplier), eq(t.esims.supplier_ref, slot.reference)))
    .returning({ id: t.esims.id }),
);

const noticeByIccid = statement((db, t, slot: Slots<{ supplier: string; iccid: string; now: number }>) =>
  db
    .update(t.esims)
    .set({ look_at: slot.now })
    .where(and(eq(t.esims.iccid, slot.iccid), eq(t.esims.supplier, slot.supplier), isNull(t.esims.retired_at)))
    .returning({ id: t.esims.id }),
);

/**
 * Has the eSIMs that a supplier's notice names looked up at once; answers how many of them are known. Nothing else
 * that a notice says is taken.
 */
export async function noticeEsims(tx: Tx, input: { supplier: string; esims: EsimRef[] }): Promise<number> {
  const { supplier } = input;
  const { now } = tx;
  let known = 0;
  for (const { iccid, reference } of input.esims.slice(0, MOST_NAMED)) {
    const named = reference === null ? [] : await noticeByReference(tx, { supplier, reference, now });
    known += named.length > 0 ? named.length : (await noticeByIccid(tx, { supplier, iccid, now })).length;
  }
  return known;
}
