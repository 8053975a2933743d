import type { Tx } from "../store/store.ts";
import type { WholeOrder } from "./delivered.ts";
import { type OrderRow, progressOrder } from "./order.ts";
import { withdrawUndelivered } from "./withdraw.ts";

/** Ends an order of which nothing was delivered as failed, with its money back in the same transaction. */
export async function failOrder(tx: Tx, whole: WholeOrder, reason: string): Promise<OrderRow> {
  const { order } = await withdrawUndelivered(tx, whole, "failed");
  const ended = { status: "failed", reason, due_at: null, leased_until: null, reserved: false } as const;
  return progressOrder(tx, order, ended);
}
