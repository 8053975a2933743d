import { setImmediate as nextTurn } from "node:timers/promises";
import { esimCodes } from "../../core/esims/esim.ts";
import type { EsimId, OrderId } from "../../core/kernel/brand.ts";
import type { Row } from "../../core/store/schema/tables.ts";
import type { Store } from "../../core/store/store.ts";
import { envelopeAround, envelopeOf } from "../../core/webhooks/envelope.ts";
import { startSignature } from "../../core/webhooks/signature.ts";

/** A delivery's body: in memory, or, when its order has very many eSIMs, made again each time it is read. */
export type DeliveryBody = Buffer | { chunks(): AsyncIterable<Buffer> };

/** eSIMs read at a time; an order with no more than these has its body in memory. */
const PAGE = 500;

/** The body of an event, with the eSIMs of its order if it is one that carries them. */
export async function deliveryBody(store: Store, event: Row<"events">, publicUrl: string): Promise<DeliveryBody> {
  if (event.expands === null) return Buffer.from(envelopeOf(event));
  const chunks = () => esimChunks(store, event, publicUrl);
  const start: Buffer[] = [];
  for await (const chunk of chunks()) {
    start.push(chunk);
    // Its head and more than one page: too much to hold for every attempt in flight.
    if (start.length > 2 && chunk.length > TAIL_BYTES) return { chunks };
  }
  return Buffer.concat(start);
}

const TAIL_BYTES = 3;

async function* esimChunks(store: Store, event: Row<"events">, publicUrl: string): AsyncGenerator<Buffer> {
  const { head, tail } = envelopeAround(event);
  yield Buffer.from(head);
  // An event that carries eSIMs is about an order.
  const orderId = event.subject_id as OrderId;
  let after: EsimId | null = null;
  do {
    const page: Awaited<ReturnType<typeof esimCodes>> = await store.read(esimCodes, {
      orderId,
      after,
      limit: PAGE,
      publicUrl,
    });
    const list = page.codes.map((code) => JSON.stringify(code)).join(",");
    if (list !== "") yield Buffer.from(after === null ? list : `,${list}`);
    after = page.last;
    // A read on SQLite awaits nothing that lets others run.
    if (after !== null) await nextTurn();
  } while (after !== null);
  yield Buffer.from(tail);
}

/** The hex signatures of a body under each of `secrets`, and its length, in one reading. */
export async function signBody(body: DeliveryBody, secrets: string[], timestamp: number) {
  const hmacs = secrets.map((secret) => startSignature(secret, timestamp));
  let length = 0;
  for await (const chunk of Buffer.isBuffer(body) ? [body] : body.chunks()) {
    for (const hmac of hmacs) hmac.update(chunk);
    length += chunk.length;
  }
  return { length, signatures: hmacs.map((hmac) => hmac.digest("hex")) };
}
