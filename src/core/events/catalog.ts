import { activationEvents, passportEvents } from "./activations.ts";
import type { EventDefinition } from "./definition.ts";
import { esimEvents } from "./esims.ts";
import { paymentEvents, walletEvents } from "./money.ts";
import { orderEvents } from "./orders.ts";
import type { ObjectSchema, ValueOf } from "./payload.ts";
import { productEvents } from "./products.ts";

/**
 * Every kind of event (contract: Events), in the order of the documents. Emitters, validation, the API document, the
 * documentation, samples and the command line read the kinds and their payloads from here.
 */
export const eventCatalog = {
  ...orderEvents,
  ...esimEvents,
  ...paymentEvents,
  ...activationEvents,
  ...walletEvents,
  ...productEvents,
  ...passportEvents,
} as const satisfies Record<string, EventDefinition<ObjectSchema>>;

type Catalog = typeof eventCatalog;

export type EventKind = keyof Catalog;

/** The kinds, all of which can be subscribed. */
export const eventKinds: readonly EventKind[] = Object.keys(eventCatalog).filter(isEventKind);

/** Whether a text names a kind of event. */
function isEventKind(kind: string): kind is EventKind {
  return Object.hasOwn(eventCatalog, kind);
}

/** In the place of kinds: all of them, those of later versions included. */
export const EVERY_KIND = "*";

/** What an endpoint asks for: a kind, or all kinds. */
export type Subscription = EventKind | typeof EVERY_KIND;

/** What can be asked for. */
export const subscriptions: readonly Subscription[] = [...eventKinds, EVERY_KIND];

/** Whether an endpoint that asked for `events` gets a kind. */
export function subscribesTo(events: readonly Subscription[], kind: EventKind): boolean {
  return events.includes(kind) || events.includes(EVERY_KIND);
}

/** The fields that join a stored payload when it is sent: the order's eSIMs may be very many (see docs/decisions). */
interface Expansions {
  order_esims: "esims" | "esims_url";
}

export type Expansion = keyof Expansions;

/** Most eSIMs of one event; the rest are at its `esims_url`. */
export const MOST_EVENT_ESIMS = 1_000;

/** `data` of an event as its receivers get it. */
export type SentPayload<K extends EventKind> = ValueOf<Catalog[K]["data"]>;

/** `data` as its emitter writes it: without what joins it when it is sent. */
export type StoredPayload<K extends EventKind> = Catalog[K] extends { expands: infer X extends Expansion }
  ? Omit<SentPayload<K>, Expansions[X]>
  : SentPayload<K>;

/** What happened: a kind with the payload that is stored for it. */
export type NewEvent = { [K in EventKind]: { kind: K; data: StoredPayload<K> } }[EventKind];

/** What joins a kind's stored payload when it is sent; null: nothing. */
export function expansionOf(kind: EventKind): Expansion | null {
  const definition: EventDefinition<ObjectSchema> = eventCatalog[kind];
  return definition.expands ?? null;
}
