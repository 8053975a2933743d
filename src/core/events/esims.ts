import { isoTime } from "../kernel/clock.ts";
import { defineEvent } from "./definition.ts";
import { exactly, iccid, megabytes, object, payload, text, time, uuid } from "./payload.ts";

const DAY_MS = 86_400_000;

const dataUsage = object({ total_mb: megabytes, used_mb: megabytes, remaining_mb: megabytes });

const topup = { iccid, order_id: uuid, topup_id: uuid, product_sku: text, data_usage: dataUsage };

const SAMPLE_ICCID = "8999031415926535893";

/** Events about a delivered eSIM (contract: Events). */
export const esimEvents = {
  "esim.activated": defineEvent({
    when: "An eSIM becomes active for the first time: its validity begins.",
    emitted: true,
    subject: "eSIM",
    namesPeople: false,
    data: payload({
      iccid,
      order_id: uuid,
      status: exactly("active"),
      activated_at: time,
      product: object({ name: text, sku: text, validity_days: { type: "integer" } }),
      expires_at: time,
    }),
    sample: ({ subjectId: order_id, now }) => ({
      iccid: SAMPLE_ICCID,
      order_id,
      status: "active",
      activated_at: isoTime(now),
      product: { name: "Europe 5 GB, 30 days", sku: "ES-EU-5GB-30D", validity_days: 30 },
      expires_at: isoTime(now + 30 * DAY_MS),
    }),
  }),
  "esim.expired": defineEvent({
    when: "The validity of an eSIM ends.",
    emitted: true,
    subject: "eSIM",
    namesPeople: false,
    data: payload({
      iccid,
      order_id: uuid,
      status: exactly("expired"),
      expired_at: time,
      data_usage: dataUsage,
    }),
    sample: ({ subjectId: order_id, now }) => ({
      iccid: SAMPLE_ICCID,
      order_id,
      status: "expired",
      expired_at: isoTime(now),
      data_usage: { total_mb: 5120, used_mb: 4210, remaining_mb: 910 },
    }),
  }),
  "esim.data_low": defineEvent({
    when:
      "Reported usage reaches a threshold: 50, 80 and 100 % of the data, unless the operator set others; the " +
      "highest where several are reached at once. Again after the data was raised, or usage began again at 0.",
    emitted: true,
    subject: "eSIM",
    namesPeople: false,
    data: payload({
      iccid,
      order_id: uuid,
      threshold_percent: { type: "integer", minimum: 1, maximum: 100 },
      data_usage: dataUsage,
      reported_at: { ...time, description: "When the usage was measured" },
    }),
    sample: ({ subjectId: order_id, now }) => ({
      iccid: SAMPLE_ICCID,
      order_id,
      threshold_percent: 80,
      data_usage: { total_mb: 5120, used_mb: 4210, remaining_mb: 910 },
      reported_at: isoTime(now),
    }),
  }),
  "esim.expiring": defineEvent({
    when:
      "An eSIM that was activated expires in 3 days, and again in 1 day, unless the operator set other days. Several " +
      "days that passed while the platform was down have one event.",
    emitted: true,
    subject: "eSIM",
    namesPeople: false,
    data: payload({
      iccid,
      order_id: uuid,
      expires_at: time,
      days_left: { type: "integer", minimum: 1, description: "Days until it expires, begun ones included" },
    }),
    sample: ({ subjectId: order_id, now }) => ({
      iccid: SAMPLE_ICCID,
      order_id,
      expires_at: isoTime(now + 3 * DAY_MS),
      days_left: 3,
    }),
  }),
  "esim.topped_up": defineEvent({
    when:
      "A top-up is on an eSIM. Its usage is as last reported: the supplier's next report has the new allowance; in " +
      "the sandbox it is in it already.",
    emitted: true,
    subject: "eSIM",
    namesPeople: false,
    data: payload(topup),
    sample: ({ subjectId: order_id }) => sampleTopup(order_id),
  }),
  "esim.topup_failed": defineEvent({
    when: "A top-up was refused or could not be bought. What was paid for it is refunded.",
    emitted: true,
    subject: "eSIM",
    namesPeople: false,
    data: payload(topup),
    sample: ({ subjectId: order_id }) => sampleTopup(order_id),
  }),
};

function sampleTopup(order_id: string) {
  return {
    iccid: SAMPLE_ICCID,
    order_id,
    topup_id: order_id,
    product_sku: "ES-EU-TOPUP-3GB",
    data_usage: { total_mb: 8192, used_mb: 4210, remaining_mb: 3982 },
  };
}
