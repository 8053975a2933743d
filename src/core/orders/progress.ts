import { assertMove, type Transitions } from "../kernel/state-machine.ts";
import { nowOf } from "../platform/sandbox-clock.ts";
import { updateRow } from "../store/rows.ts";
import type { OrderLineStatus, OrderStatus } from "../store/schema/values.ts";
import type { Tx } from "../store/store.ts";
import type { LineRow, OrderRow } from "./order.ts";

/** Contract: Order status. A sandbox order goes from pending_payment straight to fulfilled. */
export const orderTransitions: Transitions<OrderStatus> = {
  pending_payment: ["paid", "fulfilled", "cancelled"],
  paid: ["fulfilled", "waiting_review", "failed", "cancelled"],
  waiting_review: ["fulfilled", "failed", "cancelled"],
  fulfilled: [],
  failed: [],
  cancelled: [],
};

export const orderLineTransitions: Transitions<OrderLineStatus> = {
  pending: ["fulfilled", "failed", "cancelled"],
  fulfilled: [],
  failed: [],
  cancelled: [],
};

/** Writes what changed; a status only moves as the transition table allows. Returns the new row. */
export async function progressOrder(tx: Tx, row: OrderRow, change: Partial<OrderRow>): Promise<OrderRow> {
  if (change.status !== undefined && change.status !== row.status) {
    assertMove(orderTransitions, row.status, change.status);
  }
  const changed = { ...change, updated_at: await nowOf(tx, row) };
  await updateRow(tx, "orders", { id: row.id }, changed);
  return { ...row, ...changed };
}

/** The same for a line. */
export async function progressLine(tx: Tx, line: LineRow, change: Partial<LineRow>): Promise<LineRow> {
  if (change.status !== undefined && change.status !== line.status) {
    assertMove(orderLineTransitions, line.status, change.status);
  }
  await updateRow(tx, "orderLines", { id: line.id }, change);
  return { ...line, ...change };
}
