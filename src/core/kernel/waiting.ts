/** What an order or an activation request waits for until a person acts. */
export interface Waiting {
  /** Who has to act: `supplier` where its answer comes by mail, which the operator then records. */
  for: "operator" | "supplier";
  /** The verb that ends the waiting: `orders approve`, `activations complete`, … */
  act: "approve" | "cancel" | "complete" | "credit" | "retry" | "ship" | "verify";
  /** What is missing. */
  on: "stock" | "review" | "shipping" | "supplier" | "carrier" | "passport" | "payment";
  /** ISO 8601, UTC. */
  since: string;
}
