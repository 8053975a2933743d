import { and, asc, eq, gte, lt, notExists, type SQL, sql } from "drizzle-orm";
import type { PartnerId, WebhookId } from "../kernel/brand.ts";
import type { Environment } from "../kernel/environment.ts";
import { firstUuidOf } from "../kernel/ids.ts";
import type { Tables } from "../store/schema/tables.ts";
import type { WebhookStatus } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Db, Read } from "../store/store.ts";
import { clearedIn } from "./clear-events.ts";
import type { Span } from "./deliveries.ts";

/** A stretch of deliveries by their ids, which begin with the moment of creation. */
export type Stretch = { from: string; to: string };

/** The ids of what was created in a span. */
export function stretchOf({ since = 0, until }: Span): Stretch {
  // No id is as great as the text.
  return { from: firstUuidOf(since), to: until === undefined ? "~" : firstUuidOf(until) };
}

/** Held or exhausted in a stretch, and there is something left to send. */
export function canGoAgain(db: Db, t: Tables, slot: Slots<Stretch>): SQL | undefined {
  const cleared = db
    .select({ id: t.events.id })
    .from(t.events)
    .where(and(eq(t.events.id, t.deliveries.event_id), clearedIn(t)));
  return and(
    // Must match the partial index predicate exactly.
    sql`${t.deliveries.status} in ('exhausted', 'held')`,
    gte(t.deliveries.id, slot.from),
    lt(t.deliveries.id, slot.to),
    notExists(cleared),
  );
}

/** An endpoint at which deliveries did not arrive. */
export interface FailedAt {
  id: WebhookId;
  partner: string;
  environment: Environment;
  url: string;
  status: WebhookStatus;
  /** How many of them can be sent again, `MOST_COUNTED` at most. */
  count: number;
}

/** So many are counted of each endpoint: there may be very many. */
export const MOST_COUNTED = 1_000;

type Asked = Stretch & { partner_id: string; endpoint_id: string; most: number };

const failedOf = statement((db, t, slot: Slots<Asked>) => {
  const { webhookEndpoints, deliveries, partners } = t;
  const own = and(eq(deliveries.endpoint_id, webhookEndpoints.id), canGoAgain(db, t, slot));
  const some = db.select({ id: deliveries.id }).from(deliveries).where(own).limit(slot.most);
  return db
    .select({
      id: webhookEndpoints.id,
      partner: partners.slug,
      environment: webhookEndpoints.environment,
      url: webhookEndpoints.url,
      status: webhookEndpoints.status,
      count: sql`(select count(*) from (${some}) as failed)`.mapWith(Number),
    })
    .from(webhookEndpoints)
    .innerJoin(partners, eq(partners.id, webhookEndpoints.partner_id))
    .where(
      and(
        sql`(${slot.partner_id} = '' or ${webhookEndpoints.partner_id} = ${slot.partner_id})`,
        sql`(${slot.endpoint_id} = '' or ${webhookEndpoints.id} = ${slot.endpoint_id})`,
      ),
    )
    .orderBy(asc(partners.slug), asc(webhookEndpoints.id));
});

/** The endpoints at which deliveries did not arrive, of a partner, or one, or all, by partner. */
export async function endpointsWithFailed(
  q: Read,
  { partnerId, endpointId, ...span }: Span & { partnerId?: PartnerId | undefined; endpointId?: string | undefined },
): Promise<FailedAt[]> {
  const asked = { partner_id: partnerId ?? "", endpoint_id: endpointId ?? "", most: MOST_COUNTED };
  return (await failedOf(q, { ...asked, ...stretchOf(span) })).filter(({ count }) => count > 0);
}
