import { and, eq } from "drizzle-orm";
import type { PartnerId } from "../kernel/brand.ts";
import type { Environment } from "../kernel/environment.ts";
import { loader } from "../store/batch-context.ts";
import type { Tables } from "../store/schema/tables.ts";
import { isListed, listOf, type Slots, statement } from "../store/statement.ts";
import type { Feed } from "./feed-number.ts";

const columns = ({ webhookEndpoints: { id, status, events }, partners }: Tables) => {
  return { id, status, events, bound: partners.max_pending_deliveries };
};

/**
 * The endpoints of a partner in an environment, with how many deliveries may wait for each. They are locked, in the
 * order in which the worker locks several: it does not decide when to look at one again before it sees the deliveries
 * that are inserted here.
 */
const endpointsOf = statement((db, t, slot: Slots<Feed>, dialect) => {
  const { id, partner_id, environment, created_at } = t.webhookEndpoints;
  const query = db
    .select(columns(t))
    .from(t.webhookEndpoints)
    .innerJoin(t.partners, eq(t.partners.id, partner_id))
    .where(and(eq(partner_id, slot.partner_id), eq(environment, slot.environment)))
    .orderBy(created_at, id);
  return dialect.lock(query, { of: t.webhookEndpoints });
});

export type Endpoint = Awaited<ReturnType<typeof endpointsOf>>[number];

/** The same of several partners. */
const endpointsOfEach = statement((db, t, slot: Slots<Pick<Feed, "environment"> & { partners: string }>, dialect) => {
  const { id, partner_id, environment, created_at } = t.webhookEndpoints;
  const query = db
    .select({ ...columns(t), partner_id })
    .from(t.webhookEndpoints)
    .innerJoin(t.partners, eq(t.partners.id, partner_id))
    .where(and(isListed(dialect, partner_id, slot.partners), eq(environment, slot.environment)))
    .orderBy(created_at, id);
  return dialect.lock(query, { of: t.webhookEndpoints });
});

function subscribersIn(environment: Environment) {
  return loader<PartnerId, Endpoint[]>({
    async loadMany(q, ids) {
      const rows = await endpointsOfEach(q, { environment, partners: listOf(ids) });
      const found = Map.groupBy(rows, ({ partner_id }) => partner_id);
      return ids.map((id) => found.get(id) ?? []);
    },
    loadOne: (q, partner_id) => endpointsOf(q, { partner_id, environment }),
  });
}

/** The endpoints of partners, whatever they subscribed to. */
export const subscribers = { production: subscribersIn("production"), sandbox: subscribersIn("sandbox") };
