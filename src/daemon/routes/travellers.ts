import type { Static } from "typebox";
import type { ActivationRequest } from "../../core/orders/activation-requests.ts";
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
