import type { Owner } from "../kernel/owner.ts";
import { isListed, listOf, type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";

/** `ids` is JSON: a list of lists of one id. */
const ofPartners = statement((db, t, slot: Slots<{ ids: string }>, dialect) =>
  db
    .select({
      partnerId: t.eventFeeds.partner_id,
      environment: t.eventFeeds.environment,
      last: t.eventFeeds.last_no,
    })
    .from(t.eventFeeds)
    .where(isListed(dialect, t.eventFeeds.partner_id, slot.ids)),
);

/** The number of the last event of each feed of some partners; feeds without an event are left out. */
export function lastNumbers(q: Read, partners: readonly Owner["partnerId"][]): Promise<(Owner & { last: number })[]> {
  return ofPartners(q, { ids: listOf(partners) });
}
