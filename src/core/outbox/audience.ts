import { and, eq } from "drizzle-orm";
import { together } from "../kernel/together.ts";
import { isListed, listOf, locking } from "../store/rows.ts";
import { isRemembered, remember, remembered } from "../store/run-memory.ts";
import type { Tables } from "../store/schema/tables.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";
import { type Feed, lookAtFeeds } from "./feed-number.ts";

const columns = ({ webhookEndpoints: { id, status, events }, partners }: Tables) => {
  return { id, status, events, bound: partners.max_pending_deliveries };
};

/**
 * The endpoints of a partner in an environment, with how many deliveries may wait for each. They are locked, in the
 * order in which the worker locks several: it does not decide when to look at one again before it sees the deliveries
 * that are inserted here.
 */
const endpointsOf = statement((db, t, slot: Slots<Feed>) => {
  const { id, partner_id, environment, created_at } = t.webhookEndpoints;
  const query = db
    .select(columns(t))
    .from(t.webhookEndpoints)
    .innerJoin(t.partners, eq(t.partners.id, partner_id))
    .where(and(eq(partner_id, slot.partner_id), eq(environment, slot.environment)))
    .orderBy(created_at, id);
  return locking(t, query, { of: t.webhookEndpoints });
});

export type Endpoint = Awaited<ReturnType<typeof endpointsOf>>[number];

/** The same of several partners in one environment. */
const endpointsOfEach = statement((db, t, slot: Slots<Pick<Feed, "environment"> & { partners: string }>) => {
  const { id, partner_id, environment, created_at } = t.webhookEndpoints;
  const query = db
    .select({ ...columns(t), partner_id })
    .from(t.webhookEndpoints)
    .innerJoin(t.partners, eq(t.partners.id, partner_id))
    .where(and(isListed(t, partner_id, slot.partners), eq(environment, slot.environment)))
    .orderBy(created_at, id);
  return locking(t, query, { of: t.webhookEndpoints });
});

function nameOf({ partner_id, environment }: Feed): string {
  return `endpoints ${partner_id} ${environment}`;
}

/** The endpoints of an owner, asked for once in a run. */
export function endpointsInRun(tx: Tx, { partner_id, environment }: Feed): Promise<Endpoint[]> {
  const owner = { partner_id, environment };
  return remembered(tx, nameOf(owner), () => endpointsOf(tx, owner));
}

/** Looks up what events of these feeds, all of one environment, need in a run: their last numbers and the endpoints. */
export async function lookAtAudiences(tx: Tx, environment: Feed["environment"], feeds: readonly Feed[]): Promise<void> {
  const unknown = feeds.filter((feed) => !isRemembered(tx, nameOf(feed)));
  if (unknown.length === 0) return;
  const partners = listOf(unknown.map(({ partner_id }) => partner_id));
  const [endpoints] = await together(
    endpointsOfEach(tx, { partners, environment }),
    lookAtFeeds(tx, { partners, environment }),
  );
  const found = Map.groupBy(endpoints, ({ partner_id }) => partner_id);
  for (const feed of unknown) remember(tx, nameOf(feed), found.get(feed.partner_id) ?? []);
}
