import type { PartnerId } from "../kernel/brand.ts";
import type { ObjectSchema, ValueOf } from "./payload.ts";

/** What a sample is made from. */
export interface SampleSource {
  /** Used as the ID of the order, eSIM or request that the sample is about. */
  subjectId: string;
  partnerId: PartnerId;
  /** Unix time in ms. */
  now: number;
}

/** One kind of event. */
export interface EventDefinition<Data extends ObjectSchema> {
  /** When it is sent: a sentence for receivers. */
  when: string;
  /** False: the kind can be subscribed, but this version never sends it. */
  emitted: boolean;
  /** What the event is about: the row's `subject_id` is its ID, of a wallet its partner's. */
  subject: "order" | "eSIM" | "activation request or order item" | "wallet" | "product" | "passport";
  /** True: its payload says who a customer is, so it is stored sealed. */
  namesPeople: boolean;
  /** Schema of `data` as it is sent. */
  data: Data;
  /** What joins the stored payload when it is sent, see catalog.ts. */
  expands?: "order_esims";
  /** A made-up payload. */
  sample(source: SampleSource): ValueOf<Data>;
}

/** One kind of event, its sample checked against its schema by the compiler. */
export function defineEvent<const D extends EventDefinition<S>, S extends ObjectSchema = D["data"]>(
  definition: D & EventDefinition<S>,
): D {
  return definition;
}
