import type { Row } from "../../core/store/schema/tables.ts";
import type { Store } from "../../core/store/store.ts";
import type { ClaimedEvent } from "../../core/webhooks/due.ts";
import { envelopeOf } from "../../core/webhooks/envelope.ts";
import { joinedEvent } from "../feed/joined-event.ts";

/** The body of an event that an attempt may need. */
export interface HeldBody {
  /** The body, made by the first attempt that asks for it. */
  read(): Promise<Buffer>;
  release(): void;
}

/** Holds the body of an event for one attempt, until it is released. */
export type HoldBody = (event: ClaimedEvent) => HeldBody;

/** Bodies of events, each made once for all attempts that hold it, to however many endpoints; dropped with the last. */
export function shareBodies(store: Store, publicUrl: string): HoldBody {
  const shared = new Map<string, { holders: number; body: Promise<Buffer> | Buffer | null }>();

  function bodyOf(event: ClaimedEvent): Promise<Buffer> | Buffer {
    if (event.expands === null) return Buffer.from(envelopeOf(event));
    // The text of a payload, as it was kept.
    const data = JSON.parse(event.data) as Row<"events">["data"];
    return joinedEvent(store, { ...event, data }, publicUrl).then((joined) =>
      Buffer.from(envelopeOf({ ...event, data: JSON.stringify(joined.data) })),
    );
  }

  return (event) => {
    const entry = shared.get(event.id) ?? { holders: 0, body: null };
    shared.set(event.id, entry);
    entry.holders += 1;
    return {
      async read() {
        entry.body ??= bodyOf(event);
        try {
          return await entry.body;
        } catch (error) {
          // The next attempt makes it again.
          entry.body = null;
          throw error;
        }
      },
      release() {
        entry.holders -= 1;
        if (entry.holders === 0) shared.delete(event.id);
      },
    };
  };
}
