import type { PartnerId } from "../kernel/brand.ts";
import { isoTime } from "../kernel/clock.ts";
import type { EventKind } from "../store/schema/event-kinds.ts";

interface About {
  /** Stands for the order, eSIM or request that the event is about. */
  subjectId: string;
  partnerId: PartnerId;
  now: number;
}

const DAY_MS = 86_400_000;

/** Made-up `data` of an event, with exactly the fields of its kind (contract: Events). */
export function sampleData(kind: EventKind, about: About): Record<string, unknown> {
  const at = isoTime(about.now);
  if (kind.startsWith("order.") || kind === "esims.ready") return orderSample(kind, about, at);
  if (kind.startsWith("payment.")) return paymentSample(kind, about, at);
  return kind.startsWith("esim.") ? esimSample(kind, about, at) : activationSample(kind, about, at);
}

function orderNames(at: string): { order_number: string; external_order_id: string } {
  return { order_number: `ORD-${at.slice(0, 10).replaceAll("-", "")}-7KQ2M`, external_order_id: "shop-10042" };
}

const esims = [
  {
    iccid: "8999031415926535893",
    activation_code: "LPA:1$smdp.sandbox.example$K2-7YTQ1-AB",
    qr_code_url: "https://esim.example/qr/sample.png",
  },
];

function orderSample(kind: EventKind, { subjectId: id, partnerId }: About, at: string): Record<string, unknown> {
  const names = orderNames(at);
  if (kind === "esims.ready") return { order_id: id, ...names, count: esims.length, esims };
  if (kind === "order.fulfilled") return { id, ...names, status: "fulfilled", esims, fulfilled_at: at };
  if (kind === "order.cancelled") {
    return { id, ...names, status: "cancelled", cancellation_reason: "requested by the partner", cancelled_at: at };
  }
  const line = { product_id: id, product_sku: "ES-EU-5GB-30D", quantity: 1, unit_price_cents: 1250 };
  const price = { total_price_cents: 1250, currency: "AUD", line_items: [line] };
  return { id, ...names, partner_id: partnerId, status: "paid", ...price, created_at: at };
}

function paymentSample(kind: EventKind, { subjectId }: About, at: string): Record<string, unknown> {
  const payment = { order_id: subjectId, ...orderNames(at), amount_cents: 1250, currency: "AUD" };
  return kind === "payment.failed"
    ? { ...payment, failure_reason: "insufficient_balance", failed_at: at }
    : { ...payment, payment_method: "wallet", transaction_id: subjectId, completed_at: at };
}

function esimSample(kind: EventKind, { subjectId, now }: About, at: string): Record<string, unknown> {
  const esim = { iccid: "8999031415926535893", order_id: subjectId };
  if (kind === "esim.expired") {
    const data_usage = { total_mb: 5120, used_mb: 4210, remaining_mb: 910 };
    return { ...esim, status: "expired", expired_at: at, data_usage };
  }
  const product = { name: "Europe 5 GB, 30 days", sku: "ES-EU-5GB-30D", validity_days: 30 };
  return { ...esim, status: "active", activated_at: at, product, expires_at: isoTime(now + 30 * DAY_MS) };
}

function activationSample(kind: EventKind, { subjectId }: About, at: string): Record<string, unknown> {
  const identity = {
    id: subjectId,
    iccid: "8961031234567890123",
    carrier: "Carrier A",
    activation_date: at.slice(0, 10),
    customer_name: "Sam Sample",
  };
  const confirmation_number = "CONF-0001";
  switch (kind) {
    case "activation.submitted":
      return { ...identity, status: "processing", processing_status: "processing", submitted_at: at };
    case "activation.confirmed":
      return {
        ...identity,
        status: "processing",
        processing_status: "confirmed",
        confirmation_number,
        confirmed_at: at,
      };
    case "activation.activated":
      return {
        ...identity,
        status: "completed",
        processing_status: "completed",
        mobile_number: "+61400000000",
        confirmation_number,
        activated_at: at,
      };
    default:
      return {
        ...identity,
        status: "failed",
        processing_status: "failed",
        error_type: "carrier_rejected",
        error_message: "The carrier refused the request.",
        failed_at: at,
      };
  }
}
