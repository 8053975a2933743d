import { isoTime } from "../kernel/clock.ts";
import { defineEvent } from "./definition.ts";
import {
  cents,
  correctedAt,
  currency,
  exactly,
  externalOrderId,
  iccid,
  listOf,
  object,
  orderNumber,
  payload,
  text,
  time,
  uuid,
} from "./payload.ts";

/** The eSIMs of an event: the first 1,000, and where all are. */
const moreEsims = {
  esims_url: {
    type: "string",
    format: "uri",
    description:
      "Only where the order has more than 1,000 eSIMs: the API's address of all of them; `esims` is the first 1,000",
  },
} as const;

/** An eSIM as events carry it. */
const esim = object({
  iccid,
  activation_code: { type: "string", description: "The LPA string that a phone reads" },
  qr_code_url: { type: "string", format: "uri" },
});

const sampleEsims = [
  {
    iccid: "8999031415926535893",
    activation_code: "LPA:1$smdp.sandbox.example$K2-7YTQ1-AB",
    qr_code_url: "https://esim.example/qr/sample.png",
  },
];

/** The numbers of a made-up order: the platform's and the partner's own. */
export function sampleOrderNames(now: number) {
  const day = isoTime(now).slice(0, 10).replaceAll("-", "");
  return { order_number: `ORD-${day}-7KQ2M`, external_order_id: "shop-10042" };
}

/** Which order an event is about. */
const identified = { id: uuid, order_number: orderNumber, external_order_id: externalOrderId };

const orderCreated = defineEvent({
  when: "An order is placed, in the sandbox too.",
  emitted: true,
  subject: "order",
  namesPeople: false,
  data: payload({
    ...identified,
    partner_id: uuid,
    status: {
      type: "string",
      enum: ["paid", "pending_payment"],
      description: "`pending_payment`: an order of the sandbox",
    },
    total_price_cents: cents,
    currency,
    line_items: listOf(
      object({
        product_id: uuid,
        product_sku: text,
        quantity: { type: "integer", minimum: 1 },
        unit_price_cents: cents,
      }),
    ),
    created_at: time,
  }),
  sample: ({ subjectId: id, partnerId: partner_id, now }) => ({
    id,
    ...sampleOrderNames(now),
    partner_id,
    status: "paid",
    total_price_cents: 1250,
    currency: "AUD",
    line_items: [{ product_id: id, product_sku: "ES-EU-5GB-30D", quantity: 1, unit_price_cents: 1250 }],
    created_at: isoTime(now),
  }),
});

const orderFulfilled = defineEvent({
  when:
    "Every line of an order is delivered, or what was not delivered is cancelled; in the sandbox too. Again, with " +
    "`corrected_at`, when the operator corrects the carrier or tracking number of its SIM cards.",
  emitted: true,
  subject: "order",
  namesPeople: false,
  data: payload(
    {
      ...identified,
      status: exactly("fulfilled"),
      esims: listOf(esim),
      fulfilled_at: time,
    },
    { ...moreEsims, corrected_at: correctedAt },
  ),
  expands: "order_esims",
  sample: ({ subjectId: id, now }) => ({
    id,
    ...sampleOrderNames(now),
    status: "fulfilled",
    esims: sampleEsims,
    fulfilled_at: isoTime(now),
  }),
});

const orderCancelled = defineEvent({
  when: "An order is cancelled, or rejected by the operator, before anything of it is delivered.",
  emitted: true,
  subject: "order",
  namesPeople: false,
  data: payload({
    ...identified,
    status: exactly("cancelled"),
    cancellation_reason: text,
    cancelled_at: time,
  }),
  sample: ({ subjectId: id, now }) => ({
    id,
    ...sampleOrderNames(now),
    status: "cancelled",
    cancellation_reason: "requested by the partner",
    cancelled_at: isoTime(now),
  }),
});

const orderFailed = defineEvent({
  when: "An order fails before anything of it is delivered: its supplier refused it. What was paid is refunded.",
  emitted: true,
  subject: "order",
  namesPeople: false,
  data: payload({
    ...identified,
    status: exactly("failed"),
    failure_reason: text,
    failed_at: time,
  }),
  sample: ({ subjectId: id, now }) => ({
    id,
    ...sampleOrderNames(now),
    status: "failed",
    failure_reason: "the supplier refused: no profiles left",
    failed_at: isoTime(now),
  }),
});

const orderRefunded = defineEvent({
  when: "The operator refunds an order, or a part of it, to the wallet. Its status and its eSIMs stay as they are.",
  emitted: true,
  subject: "order",
  namesPeople: false,
  data: payload({ ...identified, amount_cents: cents, currency, reason: text, refunded_at: time }),
  sample: ({ subjectId: id, now }) => ({
    id,
    ...sampleOrderNames(now),
    amount_cents: 1250,
    currency: "AUD",
    reason: "the eSIM did not install",
    refunded_at: isoTime(now),
  }),
});

const esimsReady = defineEvent({
  when: "An order is fulfilled and at least one eSIM is part of it; in the sandbox too.",
  emitted: true,
  subject: "order",
  namesPeople: false,
  data: payload(
    {
      order_id: uuid,
      order_number: orderNumber,
      external_order_id: externalOrderId,
      count: { type: "integer", minimum: 1, description: "eSIMs of the order" },
      esims: listOf(esim),
    },
    moreEsims,
  ),
  expands: "order_esims",
  sample: ({ subjectId: order_id, now }) => ({
    order_id,
    ...sampleOrderNames(now),
    count: sampleEsims.length,
    esims: sampleEsims,
  }),
});

/** Events about an order (contract: Events). */
export const orderEvents = {
  "order.created": orderCreated,
  "order.fulfilled": orderFulfilled,
  "order.cancelled": orderCancelled,
  "order.failed": orderFailed,
  "order.refunded": orderRefunded,
  "esims.ready": esimsReady,
};
