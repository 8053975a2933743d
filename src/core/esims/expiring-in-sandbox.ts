import { and, eq, gt, inArray, isNull, lte, or, sql } from "drizzle-orm";
import type { EsimId, PartnerId } from "../kernel/brand.ts";
import { thresholdsOfPartner } from "../store/partner-thresholds.ts";
import type { EsimStatus } from "../store/schema/values.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { recordExpiring } from "./expiring.ts";
import { sandboxNoticesThrough } from "./notices-through.ts";

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
  until: number;
  limit: number;
}

/** Days before an expiry, and the same in ms. */
type Day = { days: number; ahead: number };

type Window = { partner_id: PartnerId; status: EsimStatus; after: number; until: number; limit: number } & Day;

const expiring = statement((db, t, slot: Slots<Window>) =>
  db
    .select({ id: t.esims.id, expires_at: t.esims.expires_at })
    .from(t.esims)
    .where(
      and(
        eq(t.esims.partner_id, slot.partner_id),
        eq(t.esims.environment, "sandbox"),
        eq(t.esims.status, slot.status),
        gt(t.esims.expires_at, slot.after),
        lte(t.esims.expires_at, slot.until),
        or(isNull(t.esims.expiry_notice), gt(t.esims.expiry_notice, slot.days)),
        // A plan of 3 days has no notice of 3 days: it would come with its activation.
        sql`${t.esims.expires_at} - ${t.esims.activated_at} > cast(${slot.ahead} as bigint)`,
      ),
    )
    .orderBy(t.esims.expires_at, t.esims.id)
    .limit(slot.limit),
);

/**
 * The notices of a partner's sandbox eSIMs that are due by `until` (ms) of its advanced clock: the first ones, at most
 * `limit`. Each day of the partner's own is due by itself, however far the clock was advanced at once.
 */
export async function noticesInSandbox(q: Read, { partner_id, until, limit }: NoticesBy): Promise<ExpiryNotice[]> {
  const since = await sandboxNoticesThrough(q, partner_id);
  // At the system's time the calendar's job writes them.
  if (since === null || since >= until) return [];
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
