import type { OrderItemId } from "../kernel/brand.ts";
import { notFound, Problem } from "../kernel/problem.ts";
import { findItem, type ItemRow, lineOfItem } from "../orders/items.ts";
import { applyOnce, eventTime, type SignedCallback } from "../platform/signed-callback.ts";
import type { Read, Tx } from "../store/store.ts";
import { applySupplyOutcome } from "./apply-outcome.ts";
import type { SupplyOutcome } from "./outcome.ts";

/** An item of a supplier, with its line's delivery method. Throws `not_found` for another supplier's item. */
export async function suppliedItem(
  q: Read,
  input: { supplier: string; id: OrderItemId },
): Promise<{ item: ItemRow; delivery_method: string }> {
  const item = await findItem(q, input.id);
  if (item === null || item.supplier !== input.supplier) throw notFound("order_item");
  const { delivery_method } = await lineOfItem(q, item);
  return { item, delivery_method };
}

/**
 * Applies a supplier's callback, whose signature was checked before. A repeated or outdated one changes nothing:
 * `applied` is false then. Throws `not_found`, `conflict` before the item was sent, `validation` for eSIMs that are
 * known already.
 */
export async function takeSupplierCallback(
  tx: Tx,
  input: { supplier: string; id: OrderItemId; outcome: SupplyOutcome; signed: SignedCallback },
): Promise<{ applied: boolean }> {
  const { item } = await suppliedItem(tx, input);
  if (item.status === "pending" && item.attempts === 0 && item.leased_until === null) {
    throw new Problem("conflict", "This request was not sent yet.");
  }
  const { outcome, signed } = input;
  const at = Math.max(item.submitted_at ?? 0, eventTime(tx, signed));
  return applyOnce(tx, signed, async () => {
    const after = await applySupplyOutcome(tx, { id: item.id, outcome, attempt: { source: "callback" }, at });
    return { applied: after.status !== item.status };
  });
}
