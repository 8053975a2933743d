import { openEvent } from "../../src/core/outbox/event-payload.ts";
import type { Read, Store } from "../../src/core/store/store.ts";

/** All events in the order in which they were written, their payloads opened. */
export function allEvents(store: Store) {
  return store.read(openedEvents, null);
}

/** The same of a snapshot. */
export async function openedEvents(q: Read, _input: null) {
  return (await q.db.select().from(q.t.events).orderBy(q.t.events.id)).map((event) => openEvent(q, event) ?? event);
}
