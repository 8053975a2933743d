import type { ComponentChildren } from "preact";
import { type OwnRecord, ownHistory, ownOrderHistory } from "../../../core/find/stories.ts";
import type { OrderId } from "../../../core/kernel/brand.ts";
import { shownMoments, Timeline, type TimelineMoment } from "../../parts/timeline.tsx";
import type { PortalVisit } from "../../session/visit.ts";

/** A record in the environment that is shown, with webhooks for those who see them. */
function recordOf<I extends string>(visit: PortalVisit, id: I): OwnRecord<I> {
  return { owner: visit.owner, id, webhooks: visit.may("developers.read") };
}

/** The history of an own record: its own moments with what was done to it and sent of it. */
export async function historyShown(
  visit: PortalVisit,
  { id, operator = false }: Pick<OwnRecord, "id" | "operator">,
  own: readonly TimelineMoment[] = [],
): Promise<ComponentChildren> {
  const others = await visit.store.read(ownHistory, { ...recordOf(visit, id), operator });
  const moments = [...own, ...shownMoments(others)].sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
  return <Timeline visit={visit} moments={moments} />;
}

/** The same of an order. Throws `not_found`. */
export async function orderHistoryShown(visit: PortalVisit, id: OrderId): Promise<ComponentChildren> {
  const moments = await visit.store.read(ownOrderHistory, recordOf(visit, id));
  return <Timeline visit={visit} moments={shownMoments(moments)} />;
}
