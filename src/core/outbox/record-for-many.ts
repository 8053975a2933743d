import { eq } from "drizzle-orm";
import { expansionOf, type NewEvent, subscribesTo } from "../events/catalog.ts";
import { newId } from "../kernel/ids.ts";
import { insert } from "../store/rows.ts";
import { isListed, listOf, type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";
import { payloadColumns } from "./event-payload.ts";
import { insertDeliveries, wantedBy } from "./fan-out.ts";
import { type Feed, nextFeedNumbers } from "./feed-number.ts";

/** Something that happened to no partner of its own: what it is about, and when it happened (ms). */
type Common = NewEvent & { subjectId: string; at: number };

/** `partners` is a list as `listOf` makes it. */
const endpointsOfAll = statement((db, t, slot: Slots<{ partners: string }>, dialect) => {
  const { id, status, events, partner_id, environment } = t.webhookEndpoints;
  return db
    .select({ id, status, events, partner_id, environment, bound: t.partners.max_pending_deliveries })
    .from(t.webhookEndpoints)
    .innerJoin(t.partners, eq(t.partners.id, partner_id))
    .where(isListed(dialect, partner_id, slot.partners));
});

/**
 * Writes the same events as the last of many feeds, in their order, and their deliveries, as `recordEvent` does for
 * one: with as many statements, however many feeds and events there are. Feeds are in their key's order
 * (docs/decisions/0044).
 */
export async function recordForMany(tx: Tx, feeds: readonly Feed[], events: readonly Common[]): Promise<void> {
  const numbered = await nextFeedNumbers(tx, feeds, events.length);
  const rows = numbered.flatMap(({ last, ...feed }) =>
    events.map(({ kind, subjectId: subject_id, at: occurred_at, data }, place) => {
      const id = newId(tx);
      const placed = { ...feed, feed_no: last - events.length + 1 + place, expands: expansionOf(kind) };
      return { id, kind, subject_id, occurred_at, ...payloadColumns(tx, id, kind, data), ...placed };
    }),
  );
  await insert(tx, "events", rows);
  const partners = listOf([...new Set(feeds.map(({ partner_id }) => partner_id))]);
  const endpoints = Map.groupBy(await endpointsOfAll(tx, { partners }), keyOf);
  const wanted = rows.flatMap((event) => {
    const asking = (endpoints.get(keyOf(event)) ?? []).filter(({ events }) => subscribesTo(events, event.kind));
    return asking.map((endpoint) => wantedBy(endpoint, event.id));
  });
  await insertDeliveries(tx, wanted);
  tx.signal("events");
}

function keyOf({ partner_id, environment }: Feed): string {
  return `${partner_id} ${environment}`;
}
