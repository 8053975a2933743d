import { and, eq, exists, gt, inArray, isNull, lte, or, type SQL, sql } from "drizzle-orm";
import type { EsimId, PartnerId } from "../kernel/brand.ts";
import { thresholdsOfPartner } from "../platform/partner-thresholds.ts";
import { type EsimStatus, esimThresholds } from "../store/schema/values.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { recordExpiring } from "./expiring.ts";

const DAY_MS = 86_400_000;

const running = ["active", "suspended"] as const satisfies EsimStatus[];

/** A notice of an eSIM of the sandbox: how many days before its expiry, and when it came due (ms). */
export interface ExpiryNotice {
  id: EsimId;
  days: number;
  at: number;
}

interface NoticesBy {
  partner_id: PartnerId;
  /** Until when all notices are written (ms); not after `until`. */
  since: number;
  until: number;
  limit: number;
}

/** The condition of one running eSIM of a sandbox for the notice of some days: by SQL of whose, which and when. */
type NoticeOf = Record<"partner_id" | "status" | "after" | "until" | "days" | "ahead", SQL>;

/** Whether an eSIM has a notice between two moments that was not sent; both are moved by `ahead`: `days` in ms. */
function isNoticeDue({ esims }: Read["t"], of: NoticeOf) {
  return and(
    eq(esims.partner_id, of.partner_id),
    eq(esims.environment, "sandbox"),
    eq(esims.status, of.status),
    gt(esims.expires_at, of.after),
    lte(esims.expires_at, of.until),
    or(isNull(esims.expiry_notice), gt(esims.expiry_notice, of.days)),
    // A plan of 3 days has no notice of 3 days: it would come with its activation.
    sql`${esims.expires_at} - ${esims.activated_at} > cast(${of.ahead} as bigint)`,
  );
}

type Window = { partner_id: PartnerId; status: EsimStatus; after: number; until: number; days: number; ahead: number };

const expiring = statement((db, t, slot: Slots<Window & { limit: number }>) =>
  db
    .select({ id: t.esims.id, expires_at: t.esims.expires_at })
    .from(t.esims)
    .where(isNoticeDue(t, slot))
    .orderBy(t.esims.expires_at, t.esims.id)
    .limit(slot.limit),
);

/**
 * The notices of a partner's sandbox eSIMs that are due by `until` (ms) of its advanced clock: the first ones, at most
 * `limit`. Each day of the partner's own is due by itself, however far the clock was advanced at once.
 */
export async function noticesInSandbox(q: Read, input: NoticesBy): Promise<ExpiryNotice[]> {
  const { partner_id, since, until, limit } = input;
  if (since >= until) return [];
  const found: ExpiryNotice[] = [];
  for (const days of (await thresholdsOfPartner(q, partner_id)).expiry_days) {
    const ahead = days * DAY_MS;
    const window = { partner_id, after: since + ahead, until: until + ahead, days, ahead, limit };
    for (const status of running) {
      const rows = await expiring(q, { ...window, status });
      for (const { id, expires_at } of rows) if (expires_at !== null) found.push({ id, days, at: expires_at - ahead });
    }
  }
  return found.sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1)).slice(0, limit);
}

/** In SQL: whether `noticesInSandbox` finds any between two moments for the partner of `partners` in the query. */
export function hasNoticesInSandbox(
  { db, t, dialect }: Pick<Read, "db" | "t" | "dialect">,
  since: SQL,
  until: SQL,
): SQL {
  const ownDays = sql`coalesce(${t.partners.expiry_days}, ${JSON.stringify(esimThresholds.expiry_days.default)})`;
  const days = sql`cast(cast(listed.value as text) as bigint)`;
  const ahead = sql`${days} * cast(${DAY_MS} as bigint)`;
  const window = {
    partner_id: sql`${t.partners.id}`,
    after: sql`${since} + ${ahead}`,
    until: sql`${until} + ${ahead}`,
  };
  const some = running.map((status) => {
    const due = isNoticeDue(t, { ...window, days, ahead, status: sql`${status}` });
    return exists(db.select({ id: t.esims.id }).from(t.esims).where(due));
  });
  return sql`exists (select 1 from ${dialect.listed(ownDays)} where ${or(...some)})`;
}

const mark = statement((db, t, slot: Slots<{ id: EsimId; days: number }>) =>
  db
    .update(t.esims)
    .set({ expiry_notice: slot.days })
    .where(
      and(
        eq(t.esims.id, slot.id),
        inArray(t.esims.status, [...running]),
        or(isNull(t.esims.expiry_notice), gt(t.esims.expiry_notice, slot.days)),
      ),
    )
    .returning(),
);

/** Records esim.expiring of an eSIM of the sandbox as of the moment at which it came due, once. */
export async function announceInSandbox(tx: Tx, { id, days, at }: ExpiryNotice): Promise<void> {
  // Another node may have seen to it meanwhile.
  const esim = first(await mark(tx, { id, days }));
  if (esim !== null) await recordExpiring(tx, esim, at);
}
