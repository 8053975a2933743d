import type { Transitions } from "../kernel/state-machine.ts";
import type { OrderLineStatus, OrderStatus } from "../store/schema/orders.ts";

/** Contract: Order status. A sandbox order goes from pending_payment straight to fulfilled. */
export const orderTransitions: Transitions<OrderStatus> = {
  pending_payment: ["paid", "fulfilled", "cancelled"],
  paid: ["fulfilled", "waiting_review", "failed", "cancelled"],
  waiting_review: ["fulfilled", "failed", "cancelled"],
  fulfilled: [],
  failed: [],
  cancelled: [],
};

export const orderStatuses = [
  "pending_payment",
  "paid",
  "waiting_review",
  "fulfilled",
  "failed",
  "cancelled",
] as const satisfies OrderStatus[];

export const orderLineTransitions: Transitions<OrderLineStatus> = {
  pending: ["fulfilled", "failed", "cancelled"],
  fulfilled: [],
  failed: [],
  cancelled: [],
};
