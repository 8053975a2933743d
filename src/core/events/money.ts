import { isoTime } from "../kernel/clock.ts";
import { defineEvent } from "./definition.ts";
import { sampleOrderNames } from "./orders.ts";
import { cents, currency, exactly, externalOrderId, orderNumber, payload, text, time, uuid } from "./payload.ts";

const payment = {
  order_id: uuid,
  order_number: orderNumber,
  external_order_id: externalOrderId,
  amount_cents: cents,
  currency,
};

/** Events about the payment of an order (contract: Events). */
export const paymentEvents = {
  "payment.completed": defineEvent({
    when: "A production order is charged to the wallet. The sandbox charges nothing.",
    emitted: true,
    subject: "order",
    namesPeople: false,
    data: payload({
      ...payment,
      payment_method: exactly("wallet"),
      transaction_id: { type: "string", description: "The charge in the wallet's ledger" },
      completed_at: time,
    }),
    sample: ({ subjectId, now }) => ({
      order_id: subjectId,
      ...sampleOrderNames(now),
      amount_cents: 1250,
      currency: "AUD",
      payment_method: "wallet",
      transaction_id: subjectId,
      completed_at: isoTime(now),
    }),
  }),
  "payment.failed": defineEvent({
    when: "Never in this version: an order that cannot be paid is refused with 402 and not created.",
    emitted: false,
    subject: "order",
    namesPeople: false,
    data: payload({ ...payment, failure_reason: text, failed_at: time }),
    sample: ({ subjectId, now }) => ({
      order_id: subjectId,
      ...sampleOrderNames(now),
      amount_cents: 1250,
      currency: "AUD",
      failure_reason: "insufficient_balance",
      failed_at: isoTime(now),
    }),
  }),
};

/** Events about a partner's wallet, which production alone has. */
export const walletEvents = {
  "wallet.low": defineEvent({
    when:
      "A balance falls below the threshold that the operator set for its currency; again only after it was at the " +
      "threshold or above for an hour. Production alone.",
    emitted: true,
    subject: "wallet",
    namesPeople: false,
    data: payload({
      currency,
      balance_cents: cents,
      threshold_cents: { ...cents, description: "The least balance that is not low, in minor units of the currency" },
    }),
    sample: () => ({ currency: "AUD", balance_cents: 8_750, threshold_cents: 10_000 }),
  }),
};
