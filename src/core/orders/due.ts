import { and, eq, inArray, sql } from "drizzle-orm";
import type { PartnerId } from "../kernel/brand.ts";
import type { Environment } from "../kernel/environment.ts";
import { dueNow, type PartnerQueue, partnerQueues } from "../platform/due-keys.ts";
import { type Lease, leaseOn, leasesOf } from "../platform/lease.ts";
import { type Lane, laneOfOrders } from "../store/schema/lanes.ts";
import type { OrderStatus } from "../store/schema/values.ts";
import type { Read, Tx } from "../store/store.ts";
import { fulfillStep, type StepOutcome } from "./fulfill.ts";

/** How long a worker may take for one order's next steps before another may take over (ms). */
const ORDER_LEASE_MS = 60_000;

const leases = leasesOf("orders", ORDER_LEASE_MS);

/** The states in which a worker can do something for an order. */
const workable: OrderStatus[] = ["pending_payment", "paid", "waiting_review"];

const claim = leases.claimer<{ environment: Environment; partner_id: PartnerId }>((t, slot) =>
  and(
    eq(t.orders.environment, slot.environment),
    eq(t.orders.partner_id, slot.partner_id),
    inArray(t.orders.status, workable),
  ),
);

const partners = partnerQueues((t) => sql`${t.orders}`);

/** The partners with due orders, production first, and in how many ms the next order is due. */
export async function waitingOrders(q: Read, _input: null): Promise<{ due: PartnerQueue[]; waitMs: number | null }> {
  return dueNow(q, await partners(q));
}

/** A claim of an order, and whose order it is. */
export type OrderLease = Lease<"orders"> & PartnerQueue;

/** Leases up to `room` due orders of a queue, oldest first; a lease that ran out is taken over. */
export async function claimOrders(tx: Tx, input: PartnerQueue & { room: number }): Promise<OrderLease[]> {
  const { environment, partnerId, room } = input;
  const rows = await claim(tx, { environment, partner_id: partnerId, limit: room });
  return rows.map((row) => ({ ...leaseOn<"orders">(row), environment, partnerId }));
}

claimOrders.lane = (input: PartnerQueue): Lane => laneOfOrders(input);

/**
 * One step of a leased order's fulfillment, see `fulfillStep`; `lost` when another worker has claimed it, or it ended:
 * then nothing is written. An order of many steps keeps its lease.
 */
export async function fulfillLeased(tx: Tx, lease: OrderLease): Promise<StepOutcome | "lost"> {
  return (await keepLease(tx, lease)) ? fulfillStep(tx, lease.id) : "lost";
}

/** All that a step writes is its order's, but for stock. */
fulfillLeased.lane = (lease: OrderLease): Lane => laneOfOrders(lease);

/** Whether this worker still has the order; one of many steps keeps its lease. */
export async function keepLease(tx: Tx, lease: Lease<"orders">): Promise<boolean> {
  const until = await leases.heldUntil(tx, lease);
  if (until === null) return false;
  if (until - tx.now < ORDER_LEASE_MS / 2) await leases.prolong(tx, lease);
  return true;
}

/** After an unexpected fault: another attempt a little later. Does nothing for an order that has ended meanwhile. */
export async function postponeOrder(tx: Tx, input: { lease: Lease<"orders">; delayMs: number }): Promise<void> {
  await leases.release(tx, { lease: input.lease, dueAt: tx.now + input.delayMs });
}

/** Releases leases, so that any worker can claim the orders at once. */
export async function releaseOrders(tx: Tx, held: Lease<"orders">[]): Promise<void> {
  for (const lease of held) await leases.release(tx, { lease, dueAt: tx.now });
}
