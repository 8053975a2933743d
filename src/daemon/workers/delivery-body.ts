import { ownBytes } from "../../core/kernel/own-bytes.ts";
import type { Row } from "../../core/store/schema/tables.ts";
import type { Store } from "../../core/store/store.ts";
import type { ClaimedEvent } from "../../core/webhooks/due.ts";
import { envelopeOf } from "../../core/webhooks/envelope.ts";
import { joinedEvent } from "../feed/joined-event.ts";

/** The body of an event that an attempt may need. */
export interface HeldBody {
  /** The body, made by the first attempt that asks for it; at once where nothing has to be read for it. */
  read(): Buffer | Promise<Buffer>;
  release(): void;
}

/** Holds the body of an event for one attempt, until it is released. */
export type HoldBody = (event: ClaimedEvent) => HeldBody;

/** Bodies of events, each made once for all attempts that hold it, to however many endpoints; dropped with the last. */
export function shareBodies(store: Store, publicUrl: string): HoldBody {
  const shared = new Map<string, { holders: number; body: Promise<Buffer> | Buffer | null }>();

  async function joinedBody(event: ClaimedEvent): Promise<Buffer> {
    // The text of a payload, as it was kept.
    const data = JSON.parse(event.data) as Row<"events">["data"];
    const joined = await joinedEvent(store, { ...event, data }, publicUrl);
    return ownBytes(envelopeOf({ ...event, data: JSON.stringify(joined.data) }));
  }

  return (event) => {
    const entry = shared.get(event.id) ?? { holders: 0, body: null };
    shared.set(event.id, entry);
    entry.holders += 1;
    return {
      read() {
        if (entry.body !== null) return entry.body;
        if (event.expands === null) entry.body = ownBytes(envelopeOf(event));
        else {
          entry.body = joinedBody(event).catch((error: unknown) => {
            // The next attempt makes it again.
            entry.body = null;
            throw error;
          });
        }
        return entry.body;
      },
      release() {
        entry.holders -= 1;
        if (entry.holders === 0) shared.delete(event.id);
      },
    };
  };
}
