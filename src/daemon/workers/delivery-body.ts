import { setImmediate as nextTurn } from "node:timers/promises";
import { type EsimCode, esimCodes } from "../../core/esims/esim.ts";
import { MOST_EVENT_ESIMS } from "../../core/events/catalog.ts";
import type { EsimId, OrderId } from "../../core/kernel/brand.ts";
import type { Row } from "../../core/store/schema/tables.ts";
import type { Store } from "../../core/store/store.ts";
import { envelopeOf } from "../../core/webhooks/envelope.ts";

/** eSIMs read at a time: other work runs between two reads. */
const PAGE = 250;

/** The body of an event, with the first eSIMs of its order if it is a kind that carries them (contract: Events). */
async function buildBody(store: Store, event: Row<"events">, publicUrl: string): Promise<Buffer> {
  if (event.expands === null) return Buffer.from(envelopeOf(event));
  // An event that carries eSIMs is about an order.
  const orderId = event.subject_id as OrderId;
  const { esims, more } = await firstEsims(store, { orderId, publicUrl });
  const rest = more ? { esims_url: `${publicUrl}/api/v1/orders/${orderId}/esims` } : {};
  return Buffer.from(envelopeOf({ ...event, data: { ...event.data, esims, ...rest } }));
}

async function firstEsims(store: Store, of: { orderId: OrderId; publicUrl: string }) {
  const esims: EsimCode[] = [];
  let after: EsimId | null = null;
  do {
    const page: Awaited<ReturnType<typeof esimCodes>> = await store.read(esimCodes, { ...of, after, limit: PAGE });
    esims.push(...page.codes);
    after = page.last;
    // A read on SQLite awaits nothing that lets others run.
    if (after !== null) await nextTurn();
  } while (after !== null && esims.length <= MOST_EVENT_ESIMS);
  return { esims: esims.slice(0, MOST_EVENT_ESIMS), more: esims.length > MOST_EVENT_ESIMS };
}

/** The body of an event that an attempt may need. */
export interface HeldBody {
  /** The body, made by the first attempt that asks for it. */
  read(): Promise<Buffer>;
  release(): void;
}

/** Holds the body of an event for one attempt, until it is released. */
export type HoldBody = (event: Row<"events">) => HeldBody;

/** Bodies of events, each made once for all attempts that hold it, to however many endpoints; dropped with the last. */
export function shareBodies(store: Store, publicUrl: string): HoldBody {
  const shared = new Map<string, { holders: number; body: Promise<Buffer> | null }>();
  return (event) => {
    const entry = shared.get(event.id) ?? { holders: 0, body: null };
    shared.set(event.id, entry);
    entry.holders += 1;
    return {
      async read() {
        entry.body ??= buildBody(store, event, publicUrl);
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
