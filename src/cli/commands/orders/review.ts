import type { OrderRow } from "../../../core/orders/order.ts";
import type { ReviewPreview } from "../../../core/orders/review.ts";
import type { Context, Opened } from "../../context.ts";
import { type Result, recordResult } from "../../output/result.ts";
import { shown } from "../../output/words.ts";
import { orderFields } from "./view.ts";

/** The keys of what a decision prints. */
export const REVIEWED_JSON = "{id, order_number, partner_id, status, reason, total_price_cents, currency, …}";

interface Decision {
  id: string;
  /** What would happen, in words, for the person who confirms; null: it is refused anyway, so nobody is asked. */
  consequence(preview: ReviewPreview): string | null;
  decide(opened: Opened, id: OrderRow["id"]): Promise<OrderRow>;
}

/** Shows what a decision on a held order would do, asks, decides, and prints the order as it is then. */
export async function decideReview(context: Context, { id, consequence, decide }: Decision): Promise<Result> {
  const [{ previewReview }, { findOrderId }] = await Promise.all([
    import("../../../core/orders/review.ts"),
    import("../../../core/orders/order.ts"),
  ]);
  return context.withStore(async (opened) => {
    const { store } = opened;
    const orderId = await store.read(findOrderId, id);
    const preview = await store.read(previewReview, orderId);
    const words = preview.status === "waiting_review" ? consequence(preview) : null;
    if (words !== null) await context.confirm(words);
    return decided(opened, await decide(opened, orderId));
  });
}

/** The order as an operator's decision left it. */
export async function decided({ store }: Opened, row: OrderRow): Promise<Result> {
  const { linesOfOrder, toOrder } = await import("../../../core/orders/order.ts");
  const order = toOrder(row, await store.read(linesOfOrder, row.id));
  return recordResult({ ...order, reason: row.reason }, (sheet) => ({
    ...orderFields(sheet, order),
    reason: shown(row.reason),
  }));
}
