import type { Method } from "./api.ts";

/**
 * What doing a request twice would do. `reads`: nothing. `keyed`: nothing, by its Idempotency-Key. `harmless`: nothing,
 * by the contract. `unsafe`: something.
 */
export type Repeats = "reads" | "keyed" | "harmless" | "unsafe";

/**
 * Writes that the contract makes harmless to repeat. Passports that are in the pool already are skipped; a bulk order
 * is known by its external_order_id; an activation that is open already is refused as a duplicate; a reschedule to the
 * date that it has by now succeeds again. The outcome is that of the last attempt: what a lost answer had imported
 * counts as a duplicate.
 */
const harmless: readonly string[] = [
  "/api/v1/kyc/passports",
  "/api/v1/orders/bulk",
  "/api/v1/activations",
  "/api/v1/activations/bulk/reschedule",
];

/** Whether, and why, a request may be sent again when no answer came. */
export function repeatsOf(method: Method, path: string, headers: Readonly<Record<string, string>>): Repeats {
  if (method === "GET") return "reads";
  if (headers["idempotency-key"] !== undefined) return "keyed";
  return method === "POST" && harmless.includes(path) ? "harmless" : "unsafe";
}
