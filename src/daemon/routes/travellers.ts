import type { FastifyRequest } from "fastify";
import type { Static } from "typebox";
import type { OrderId } from "../../core/kernel/brand.ts";
import { type ActivationRequest, wrongEids } from "../../core/orders/activation-requests.ts";
import type { NewOrder } from "../schemas/order.ts";

type Sent = Static<typeof NewOrder>["activation_requests"];

/** The activation requests of an order with what was left out filled in. */
export function travellersOf(requests: Sent): ActivationRequest[] {
  return (requests ?? []).map((request) => ({
    product_id: request.product_id,
    customer_email: request.customer_email,
    customer_name: request.customer_name,
    customer_phone: request.customer_phone ?? null,
    activation_date: request.activation_date,
    timezone: request.timezone ?? "UTC",
    eid_number: request.eid_number ?? null,
    selected_plan_id: request.selected_plan_id ?? null,
  }));
}

/** Logs which EIDs of an order just placed have a wrong check digit, without repeating them. */
export function warnOfEids(request: FastifyRequest, order: { id: OrderId }, travellers: ActivationRequest[]): void {
  const fields = wrongEids(travellers);
  if (fields.length > 0) request.log.warn({ order_id: order.id, fields }, "an EID has a wrong check digit");
}
