import { type EventKind, eventCatalog } from "../events/catalog.ts";
import type { Row } from "../store/schema/tables.ts";
import { sealedEventData } from "../store/sealing/people.ts";
import type { Read, Tx } from "../store/store.ts";

type EventRow = Row<"events">;
type Payload = EventRow["data"];

/** The columns of an event's payload: it is sealed where its kind names people. */
export function payloadColumns(tx: Tx, id: string, kind: EventKind, data: Payload): Pick<EventRow, "data" | "sealed"> {
  if (!eventCatalog[kind].namesPeople) return { data, sealed: null };
  return { data: {}, sealed: sealedEventData.seal(tx, id, data) };
}

/** The event with its payload opened; null where that cannot be read, which is reported. */
export function openEvent(q: Pick<Read, "vault">, row: EventRow): EventRow | null {
  if (row.sealed === null) return row;
  const data = sealedEventData.open(q, row.id, row.sealed);
  return data === null ? null : { ...row, data };
}
