import { keepLease } from "../orders/due.ts";
import type { StepOutcome } from "../orders/fulfill.ts";
import { type ItemRow, itemsOfOrder, requireItem } from "../orders/items.ts";
import { requireOrder } from "../orders/order.ts";
import { progressOrder } from "../orders/progress.ts";
import type { Lease } from "../platform/lease.ts";
import type { Tx } from "../store/store.ts";
import { applySupplyOutcome } from "./apply-outcome.ts";
import { holdUnanswered } from "./due.ts";

/** Items that one transaction writes at most. */
const ITEMS_PER_STEP = 250;

/**
 * One step of a leased sandbox order's scenario: what a supplier's refusal, or its silence, does to a production order.
 * No supplier is reached. `lost` when another worker has claimed it.
 */
export async function playSupplier(tx: Tx, lease: Lease<"orders">): Promise<StepOutcome | "lost"> {
  if (!(await keepLease(tx, lease))) return "lost";
  const order = await requireOrder(tx, lease.id);
  const pending = (await itemsOfOrder(tx, order.id)).filter(({ status }) => status === "pending");
  for (const { id } of pending.slice(0, ITEMS_PER_STEP)) {
    const item = await requireItem(tx, id);
    // The first refusal ends an order of which nothing was delivered, with all its items.
    if (item.status === "pending") await (order.scenario === "supplier_refused" ? refuse : leaveUnanswered)(tx, item);
  }
  if (pending.length > ITEMS_PER_STEP) return "more";
  const after = await requireOrder(tx, order.id);
  if (after.due_at !== null) await progressOrder(tx, after, { due_at: null, leased_until: null });
  return after.status === "failed" ? "done" : "waiting";
}

const MESSAGE = "Refused, as the sandbox scenario asks.";

async function refuse(tx: Tx, { id }: ItemRow): Promise<void> {
  const outcome = { kind: "refused", errorType: "supplier_refused", errorMessage: MESSAGE } as const;
  await applySupplyOutcome(tx, { id, outcome, attempt: { source: "request" } });
}

/** Submitted, and no final answer came in time: the two days of it are skipped. */
async function leaveUnanswered(tx: Tx, { id }: ItemRow): Promise<void> {
  const accepted = { outcome: { kind: "accepted" }, attempt: { source: "request" } } as const;
  await holdUnanswered(tx, await applySupplyOutcome(tx, { id, ...accepted }));
}
