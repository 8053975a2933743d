import { isoTime } from "../kernel/clock.ts";
import { defineEvent } from "./definition.ts";
import { exactly, iccid, megabytes, object, payload, text, time, uuid } from "./payload.ts";

const DAY_MS = 86_400_000;

/** Events about a delivered eSIM (contract: Events). */
export const esimEvents = {
  "esim.activated": defineEvent({
    when: "An eSIM becomes active for the first time: its validity begins.",
    emitted: true,
    subject: "eSIM",
    data: payload({
      iccid,
      order_id: uuid,
      status: exactly("active"),
      activated_at: time,
      product: object({ name: text, sku: text, validity_days: { type: "integer" } }),
      expires_at: time,
    }),
    sample: ({ subjectId: order_id, now }) => ({
      iccid: "8999031415926535893",
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
    data: payload({
      iccid,
      order_id: uuid,
      status: exactly("expired"),
      expired_at: time,
      data_usage: object({ total_mb: megabytes, used_mb: megabytes, remaining_mb: megabytes }),
    }),
    sample: ({ subjectId: order_id, now }) => ({
      iccid: "8999031415926535893",
      order_id,
      status: "expired",
      expired_at: isoTime(now),
      data_usage: { total_mb: 5120, used_mb: 4210, remaining_mb: 910 },
    }),
  }),
};
