import type { Caller, Reply } from "./platform.ts";

export const customer = { email: "mia@example.com", name: "Mia Chen" };
/** Headers with a key of their own. */
export const key = () => ({ "idempotency-key": crypto.randomUUID() });

/** The lines of an order. */
export const lines = (...asked: [product_id: string | undefined, quantity: number][]) => ({
  line_items: asked.map(([product_id, quantity]) => ({ product_id, quantity })),
});

export const quote = (caller: Caller, body: object) => caller.send("POST", "/api/v1/orders/quote", body);
export const create = (caller: Caller, body: object, once = key()) => caller.send("POST", "/api/v1/orders", body, once);
export const quoteBulk = (caller: Caller, orders: object[]) =>
  caller.send("POST", "/api/v1/orders/bulk/quote", { orders });
export const createBulk = (caller: Caller, orders: object[]) => caller.send("POST", "/api/v1/orders/bulk", { orders });

/** An activation request for one unit of a product. */
export const traveler = (product_id: string | undefined, more: object = {}) => ({
  product_id,
  customer_email: "mia@example.com",
  customer_name: "Mia Chen",
  activation_date: "2026-12-24",
  ...more,
});

/** What a refusal says, without what differs from one request to the next. */
export function refusalOf({ status, body }: Reply) {
  const { instance: _, requestId: __, timestamp: ___, ...said } = body;
  return { status, said };
}
