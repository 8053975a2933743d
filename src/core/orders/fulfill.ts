import { assignFromStock, type Shortage } from "../esims/stock.ts";
import type { OrderId } from "../kernel/brand.ts";
import { nowOf } from "../platform/sandbox-clock.ts";
import type { Tx } from "../store/store.ts";
import { postStockCosts } from "../supply/stock-costs.ts";
import { isScheduled } from "./activation-requests.ts";
import { finishOrder, holdOrder } from "./finish.ts";
import { itemsOfOrder, progressItem } from "./items.ts";
import { type LineRow, linesOfOrder, type OrderRow, requireOrder } from "./order.ts";
import { progressLine, progressOrder } from "./progress.ts";
import { needsOf, reserveForOrder } from "./reserve.ts";
import { isSupplied } from "./scenario.ts";

/** Units written in one transaction at most, so that no order delays the others. */
const UNITS_PER_STEP = 500;

/**
 * Where a step left its order: more to do at once, done, or waiting for review. `supplier`: a scenario of the sandbox
 * asks for what a supplier would do (supplier-requests/scenario.ts).
 */
export type StepOutcome = "more" | "done" | "waiting" | "supplier";

/**
 * One step of an order's fulfillment, in one transaction: reserves all of its stock, or assigns up to 500 eSIMs, or
 * finishes it. Safe to repeat: it continues from what is written. Nothing becomes visible before the last step.
 */
export async function fulfillStep(tx: Tx, orderId: OrderId): Promise<StepOutcome> {
  const order = await requireOrder(tx, orderId);
  const lines = await linesOfOrder(tx, orderId);
  if (order.environment === "sandbox") return sandboxStep(tx, order, lines);
  // An order in review that is due was approved or retried; it stays in review until its last unit is delivered.
  if (order.status !== "paid" && order.status !== "waiting_review") return settle(tx, order);
  const reserved = await reserve(tx, order, lines);
  return reserved === null ? "waiting" : assignUnits(tx, reserved, lines);
}

async function sandboxStep(tx: Tx, order: OrderRow, lines: LineRow[]): Promise<StepOutcome> {
  if (order.status !== "pending_payment") return isPlayed(order) ? "supplier" : settle(tx, order);
  if (order.scenario === null) return assignUnits(tx, order, lines);
  // From here on as production has it, which reviews, fails and cancels paid orders only.
  const paid = await progressOrder(tx, order, { status: "paid" });
  if (order.scenario === "stock_short") {
    return holdShort(
      tx,
      paid,
      needsOf(lines).map(({ sku, quantity }) => ({ sku, needed: quantity, available: 0 })),
    );
  }
  for (const line of lines) {
    if (isSupplied(line.delivery_method)) continue;
    const left = unitsLeft(line, order);
    await completeLine(tx, order, left > 0 ? await assignSome(tx, order, line, left) : line);
  }
  return "supplier";
}

/** Whether a scenario of suppliers is under way. */
function isPlayed({ scenario, status, due_at }: OrderRow): boolean {
  const open = status === "paid" || status === "waiting_review";
  return open && due_at !== null && (scenario === "supplier_refused" || scenario === "supplier_timeout");
}

async function assignUnits(tx: Tx, order: OrderRow, lines: LineRow[]): Promise<StepOutcome> {
  let room = UNITS_PER_STEP;
  const after: LineRow[] = [];
  for (const line of lines) {
    const left = line.status === "pending" ? unitsLeft(line, order) : 0;
    const quantity = writesNoUnits(order, line) ? left : Math.min(left, room);
    if (!writesNoUnits(order, line)) room -= quantity;
    after.push(quantity > 0 ? await assignSome(tx, order, line, quantity) : line);
  }
  // A small order is finished in the same transaction that assigns its last eSIM.
  const left = after.some((line) => line.status === "pending" && unitsLeft(line, order) > 0);
  return left ? "more" : completeLines(tx, order, after);
}

/** Whether assigning units of the line writes the line alone: the eSIMs of the sandbox are computed. */
function writesNoUnits(order: OrderRow, line: LineRow): boolean {
  return order.environment === "sandbox" && !isScheduled(line.delivery_method);
}

/** Nothing is left to do: no worker claims the order again by itself. */
async function settle(tx: Tx, order: OrderRow): Promise<StepOutcome> {
  await progressOrder(tx, order, { due_at: null, leased_until: null });
  return "done";
}

/** Reserves all stock lines together or none; a short pool sends the order to review and gives null. */
async function reserve(tx: Tx, order: OrderRow, lines: LineRow[]): Promise<OrderRow | null> {
  const { reserved, short } = await reserveForOrder(tx, order, lines);
  if (short.length === 0) return reserved;
  await holdShort(tx, order, short);
  return null;
}

/** Holds an order for review since the stock is short. */
async function holdShort(tx: Tx, order: OrderRow, short: Shortage[]): Promise<StepOutcome> {
  const words = short.map(({ sku, needed, available }) => `${sku}: ${needed} needed, ${available} in stock`);
  const reason = `stock is short (${words.join("; ")})`;
  await holdOrder(tx, await progressOrder(tx, order, { due_at: null, leased_until: null }), reason, reason);
  return "waiting";
}

function unitsLeft(line: LineRow, order: OrderRow): number {
  const sandbox = order.environment === "sandbox";
  const hasEsims = sandbox ? line.product_type !== "physical_sim" : line.delivery_method === "stock";
  return hasEsims ? line.quantity - line.assigned : 0;
}

async function assignSome(tx: Tx, order: OrderRow, line: LineRow, quantity: number): Promise<LineRow> {
  const { id: orderId, partner_id: partnerId } = order;
  if (order.environment === "sandbox") await activateSandboxItems(tx, line, { quantity, at: await nowOf(tx, order) });
  else {
    const { id: lineId, product_id: productId, cost, cost_currency } = line;
    await assignFromStock(tx, { orderId, partnerId, lineId, productId, quantity, cost, cost_currency }, postStockCosts);
  }
  return progressLine(tx, line, { assigned: line.assigned + quantity });
}

/** Activates items of the sandbox at once: those of the next `quantity` units of a line. */
async function activateSandboxItems(
  tx: Tx,
  line: LineRow,
  { quantity, at }: { quantity: number; at: number },
): Promise<void> {
  const items = (await itemsOfOrder(tx, line.order_id)).filter((item) => item.line_id === line.id);
  const lots = isScheduled(line.delivery_method) ? items.slice(line.assigned, line.assigned + quantity) : items;
  for (const item of lots) {
    if (item.status === "pending") await progressItem(tx, item, { status: "activated", activated_at: at });
  }
}

/** All eSIMs are assigned: the lines they deliver become visible together. */
async function completeLines(tx: Tx, order: OrderRow, lines: LineRow[]): Promise<StepOutcome> {
  const after: LineRow[] = [];
  for (const line of lines) after.push(await completeLine(tx, order, line));
  const open = after.filter((line) => line.status === "pending");
  if (open.length === 0) {
    await finishOrder(tx, order, after);
    return "done";
  }
  // The rest is with suppliers, or for the operator to ship.
  return settle(tx, order);
}

async function completeLine(tx: Tx, order: OrderRow, line: LineRow): Promise<LineRow> {
  if (line.status !== "pending") return line;
  const sandbox = order.environment === "sandbox";
  if (line.delivery_method === "stock" || (sandbox && line.product_type !== "physical_sim")) {
    return progressLine(tx, line, { status: "fulfilled" });
  }
  if (!sandbox) return line;
  const shipped_at = await nowOf(tx, order);
  const shipping = { carrier: "sandbox", tracking_number: "SANDBOX", tracking_url: null, shipped_at };
  return progressLine(tx, line, { status: "fulfilled", shipping });
}
