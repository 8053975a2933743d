import { and, eq, gt, isNotNull, isNull, lte, notInArray, or } from "drizzle-orm";
import type { PartnerId } from "../kernel/brand.ts";
import { isoTime } from "../kernel/clock.ts";
import { recordEvent } from "../outbox/record.ts";
import { thresholdsOfPartner } from "../platform/partner-thresholds.ts";
import { updateRow } from "../store/rows.ts";
import { type EsimStatus, esimThresholds } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import type { EsimRow } from "./esim.ts";
import { audienceOf } from "./life.ts";
import { noticesThrough, writeNoticesThrough } from "./notices-through.ts";
import { soldIn } from "./status.ts";

const DAY_MS = 86_400_000;

/** eSIMs that one transaction looks at at most. */
const STEP = 500;

const running = ["active", "suspended"] as const satisfies EsimStatus[];

const ownDays = statement((db, t, _slot) =>
  db.select({ days: t.partners.expiry_days }).from(t.partners).where(isNotNull(t.partners.expiry_days)),
);

/** All days before an expiry that some partner has events for. */
async function daysOfAll(q: Read): Promise<number[]> {
  const own = (await ownDays(q, {})).flatMap(({ days }) => days ?? []);
  return [...new Set([...esimThresholds.expiry_days.default, ...own])];
}

/** The partners whose sandbox has a clock of its own. */
function advanced(db: Read["db"], t: Read["t"]) {
  return db.select({ partner_id: t.sandboxClocks.partner_id }).from(t.sandboxClocks);
}

type Window = { status: EsimStatus; after: number; until: number; days: number; limit: number };

const expiringIn = statement((db, t, slot: Slots<Window>) =>
  db
    .select()
    .from(t.esims)
    .where(
      and(
        eq(t.esims.status, slot.status),
        gt(t.esims.expires_at, slot.after),
        lte(t.esims.expires_at, slot.until),
        or(isNull(t.esims.expiry_notice), gt(t.esims.expiry_notice, slot.days)),
        // What an advanced sandbox clock makes due is done by sandbox/settle.ts, at that clock's moments.
        or(eq(t.esims.environment, "production"), notInArray(t.esims.partner_id, advanced(db, t))),
      ),
    )
    .orderBy(t.esims.expires_at, t.esims.id)
    .limit(slot.limit),
);

/**
 * Records esim.expiring for eSIMs whose expiry has come as near as one of their partner's days, and returns how many it
 * looked at, 500 at most: 0 means that nothing is due any more. What came due while nothing ran is found too: of
 * several days that passed meanwhile the nearest counts, and an eSIM that has expired gets none. Those of an advanced
 * sandbox are left out. Safe to repeat, late or twice. The first run of all begins with what is due from then on.
 */
export async function announceExpiring(tx: Tx, _input: null): Promise<number> {
  const known = await noticesThrough(tx);
  const since = known ?? tx.now;
  const all = await daysOfAll(tx);
  const daysOf = new Map<PartnerId, readonly number[]>();
  let seen = 0;
  for (const days of all) {
    const after = Math.max(tx.now, since + days * DAY_MS);
    const until = tx.now + days * DAY_MS;
    for (const status of running) {
      const rows = await expiringIn(tx, { status, after, until, days, limit: STEP - seen });
      for (const esim of rows) await notice(tx, esim, all, daysOf);
      seen += rows.length;
    }
  }
  if (seen === 0 && tx.now > since) await writeNoticesThrough(tx, tx.now);
  else if (known === null) await writeNoticesThrough(tx, since);
  return seen;
}

/** Marks the days that have passed of an eSIM as seen to, and records its event if its partner wants one of them. */
async function notice(tx: Tx, esim: EsimRow, all: readonly number[], daysOf: Map<PartnerId, readonly number[]>) {
  const { partnerId } = audienceOf(esim);
  const wanted = daysOf.get(partnerId) ?? (await thresholdsOfPartner(tx, partnerId)).expiry_days;
  daysOf.set(partnerId, wanted);
  await updateRow(tx, "esims", { id: esim.id }, { expiry_notice: Math.min(...passed(esim, all, tx.now)) });
  const { expires_at, activated_at, expiry_notice } = esim;
  if (expires_at === null) return;
  const due = passed(esim, wanted, tx.now)
    .filter((days) => expiry_notice === null || days < expiry_notice)
    // A plan of 3 days has no notice of 3 days: it would come with its activation.
    .filter((days) => activated_at === null || expires_at - days * DAY_MS > activated_at);
  if (due.length > 0) await recordExpiring(tx, esim, tx.now);
}

/** Records esim.expiring of an eSIM as of `at` (ms). */
export async function recordExpiring(tx: Tx, esim: EsimRow, at: number): Promise<void> {
  const { iccid, expires_at } = esim;
  if (expires_at === null) throw new Error("an eSIM that expires has an expiry");
  const days_left = Math.ceil((expires_at - at) / DAY_MS);
  const data = { iccid, order_id: soldIn(esim), expires_at: isoTime(expires_at), days_left };
  await recordEvent(tx, { kind: "esim.expiring", ...audienceOf(esim), at, data });
}

/** The days of a list that are no longer ahead of an eSIM. */
function passed({ expires_at }: EsimRow, days: readonly number[], now: number): number[] {
  return days.filter((each) => expires_at !== null && expires_at - each * DAY_MS <= now);
}
