import type { Owner } from "../kernel/owner.ts";
import { notFound } from "../kernel/problem.ts";
import { openEvent } from "../outbox/event-payload.ts";
import { findByKey } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import type { Read } from "../store/store.ts";
import { isCleared } from "../webhooks/clear-events.ts";

/**
 * One event of the owner's feed. Throws `not_found`, also for an event whose body was cleared with personal data, and
 * for a sample that was sent to one endpoint.
 */
export async function showEvent(q: Read, { owner, id }: { owner: Owner; id: string }): Promise<Row<"events">> {
  const event = await findByKey(q, "events", { id });
  const own = event?.partner_id === owner.partnerId && event.environment === owner.environment;
  if (event === null || !own || event.feed_no === null || isCleared(event)) throw notFound("event");
  const open = openEvent(q, event);
  if (open === null) throw notFound("event");
  return open;
}
