import { isoTime } from "../kernel/clock.ts";
import { defineEvent, type SampleSource } from "./definition.ts";
import {
  correctedAt,
  date,
  exactly,
  externalOrderId,
  iccid,
  orderNumber,
  payload,
  text,
  textOrNull,
  time,
  uuid,
} from "./payload.ts";

/** What all events of a request have in common. */
const identity = {
  id: { ...uuid, description: "The activation request, or the order item" },
  iccid: { ...iccid, type: ["string", "null"], description: "Null: an order item whose eSIM is not delivered" },
  carrier: { type: ["string", "null"], description: "Null: an order item, which a supplier activates" },
  activation_date: date,
  customer_name: text,
} as const;

/** Only of an order item. */
const ofOrderItem = { order_id: uuid, order_number: orderNumber, external_order_id: externalOrderId };

const confirmation = { confirmation_number: textOrNull };

function sampleIdentity({ subjectId, now }: SampleSource) {
  return {
    id: subjectId,
    iccid: "8961031234567890123",
    carrier: "Carrier A",
    activation_date: isoTime(now).slice(0, 10),
    customer_name: "Sam Sample",
  };
}

const submitted = defineEvent({
  when: "A request goes to the carrier, or an order item to its supplier.",
  emitted: true,
  subject: "activation request or order item",
  namesPeople: true,
  data: payload(
    { ...identity, status: exactly("processing"), processing_status: exactly("processing"), submitted_at: time },
    ofOrderItem,
  ),
  sample: (source) => ({
    ...sampleIdentity(source),
    status: "processing",
    processing_status: "processing",
    submitted_at: isoTime(source.now),
  }),
});

const confirmed = defineEvent({
  when: "The carrier or supplier confirms a request; the activation is still to come.",
  emitted: true,
  subject: "activation request or order item",
  namesPeople: true,
  data: payload(
    {
      ...identity,
      status: exactly("processing"),
      processing_status: exactly("confirmed"),
      ...confirmation,
      confirmed_at: time,
    },
    ofOrderItem,
  ),
  sample: (source) => ({
    ...sampleIdentity(source),
    status: "processing",
    processing_status: "confirmed",
    confirmation_number: "CONF-0001",
    confirmed_at: isoTime(source.now),
  }),
});

const activated = defineEvent({
  when:
    "The carrier activates a SIM and assigns its number, or the supplier delivers the eSIM of an order item. " +
    "Again, with `corrected_at`, when the operator corrects what was recorded.",
  emitted: true,
  subject: "activation request or order item",
  namesPeople: true,
  data: payload(
    {
      ...identity,
      status: exactly("completed"),
      processing_status: exactly("completed"),
      mobile_number: textOrNull,
      ...confirmation,
      activated_at: time,
    },
    { ...ofOrderItem, corrected_at: correctedAt },
  ),
  sample: (source) => ({
    ...sampleIdentity(source),
    status: "completed",
    processing_status: "completed",
    mobile_number: "+61400000000",
    confirmation_number: "CONF-0001",
    activated_at: isoTime(source.now),
  }),
});

const failed = defineEvent({
  when: "A request or an order item fails for good.",
  emitted: true,
  subject: "activation request or order item",
  namesPeople: true,
  data: payload(
    {
      ...identity,
      status: exactly("failed"),
      processing_status: exactly("failed"),
      error_type: textOrNull,
      error_message: textOrNull,
      failed_at: time,
    },
    ofOrderItem,
  ),
  sample: (source) => ({
    ...sampleIdentity(source),
    status: "failed",
    processing_status: "failed",
    error_type: "carrier_rejected",
    error_message: "The carrier refused the request.",
    failed_at: isoTime(source.now),
  }),
});

/** Events about the activation of a physical SIM or of a traveler's order item (contract: Events). */
export const activationEvents = {
  "activation.submitted": submitted,
  "activation.confirmed": confirmed,
  "activation.activated": activated,
  "activation.failed": failed,
};

const DAY_MS = 86_400_000;

/** Events about the identity pool. They say nothing of whose passport it is. */
export const passportEvents = {
  "passport.expiring": defineEvent({
    when: "A passport of the pool expires within 60 days. Once for a document and its expiry.",
    emitted: true,
    subject: "passport",
    namesPeople: false,
    data: payload({
      id: uuid,
      passport_country: { type: "string", description: "ISO 3166-1 alpha-3" },
      passport_expiry: date,
    }),
    sample: ({ subjectId: id, now }) => ({
      id,
      passport_country: "GBR",
      passport_expiry: isoTime(now + 60 * DAY_MS).slice(0, 10),
    }),
  }),
};
