/** The kinds of events there are; all can be subscribed (contract: Events). payment.failed is never emitted yet. */
export const eventKinds = [
  "order.created",
  "order.fulfilled",
  "order.cancelled",
  "esims.ready",
  "esim.activated",
  "esim.expired",
  "payment.completed",
  "payment.failed",
  "activation.submitted",
  "activation.confirmed",
  "activation.activated",
  "activation.failed",
] as const;

export type EventKind = (typeof eventKinds)[number];
