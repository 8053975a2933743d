import { setImmediate as nextTurn } from "node:timers/promises";
import { type EsimCode, esimCodes } from "../../core/esims/esim.ts";
import { MOST_EVENT_ESIMS } from "../../core/events/catalog.ts";
import type { EsimId, OrderId } from "../../core/kernel/brand.ts";
import type { Row } from "../../core/store/schema/tables.ts";
import type { Store } from "../../core/store/store.ts";

/** eSIMs read at a time: other work runs between two reads. */
const PAGE = 250;

/** As much of an event as what joins it depends on. */
type Joinable = Pick<Row<"events">, "subject_id" | "expands" | "data">;

/** An event with the first eSIMs of its order in its data, if it is a kind that carries them (contract: Events). */
export async function joinedEvent<E extends Joinable>(store: Store, event: E, publicUrl: string): Promise<E> {
  if (event.expands === null) return event;
  // An event that carries eSIMs is about an order.
  const orderId = event.subject_id as OrderId;
  const { esims, more } = await firstEsims(store, { orderId, publicUrl });
  const rest = more ? { esims_url: `${publicUrl}/api/v1/orders/${orderId}/esims` } : {};
  return { ...event, data: { ...event.data, esims, ...rest } };
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
