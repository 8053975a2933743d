/** What an order, an activation request or a product waits for until a person acts. */
export interface Waiting {
  /** Who has to act: `supplier` where its answer comes by mail, which the operator then records. */
  for: "operator" | "supplier";
  /** The verb that ends the waiting: `orders approve`, `activations complete`, `products update`, … */
  act: "approve" | "cancel" | "complete" | "credit" | "retry" | "ship" | "update" | "verify";
  /** What is missing. */
  on: "stock" | "review" | "shipping" | "supplier" | "carrier" | "passport" | "payment" | "margin";
  /** ISO 8601, UTC. */
  since: string;
}
