import { and, eq, isNull, sql } from "drizzle-orm";
import { findEsim } from "../esims/esim.ts";
import { dueKeys, dueNow } from "../platform/due-keys.ts";
import { type Lease, leaseOn, leasesOf, maySend } from "../platform/lease.ts";
import type { TopupStatus } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { type SupplierContact, supplierContact } from "../suppliers/supplier.ts";
import { takePassage } from "../supply/circuit.ts";
import type { EsimRef } from "../supply/provider.ts";
import type { TopupRow } from "./topup.ts";

/** How long one step of a top-up may take before another worker may take over (ms). */
const TOPUP_LEASE_MS = 120_000;

/** The leases of top-ups. */
export const topupLeases = leasesOf("topups", TOPUP_LEASE_MS);

/** How long a top-up waits before it looks again whether its supplier's circuit is closed (ms). */
const CIRCUIT_WAIT_MS = 30_000;

const OPEN: TopupStatus = "paid";

const atSupplier = topupLeases.claimer<{ supplier: string }>((t, slot) =>
  and(eq(t.topups.supplier, slot.supplier), eq(t.topups.status, OPEN)),
);
const inSandbox = topupLeases.claimer<object>((t) => and(isNull(t.topups.supplier), eq(t.topups.status, OPEN)));

const suppliers = dueKeys<object>({
  table: (t) => sql`${t.topups}`,
  key: "supplier",
  waits: () => sql`due_at is not null`,
});

const nextInSandbox = statement((db, t, slot: Slots<{ limit: number }>) =>
  db
    .select({ due_at: sql`${t.topups.due_at}`.mapWith(Number) })
    .from(t.topups)
    .where(and(sql`due_at is not null`, isNull(t.topups.supplier)))
    .orderBy(t.topups.due_at, t.topups.id)
    .limit(slot.limit),
);

/** Top-ups that wait together: a supplier's; null: the sandbox's, which reach none. */
export interface TopupQueue {
  supplier: string | null;
}

/** What has due top-ups, and in how many ms the next is due. */
export async function waitingTopups(q: Read, _input: null): Promise<{ due: TopupQueue[]; waitMs: number | null }> {
  const keyed = (await suppliers(q, {})).map(({ key, due_at }) => ({ supplier: key, due_at }));
  const sandbox = (await nextInSandbox(q, { limit: 1 })).map(({ due_at }) => ({ supplier: null, due_at }));
  return dueNow(q, [...keyed, ...sandbox]);
}

/** A top-up to be bought. */
export interface ClaimedTopup {
  topup: TopupRow;
  lease: Lease<"topups">;
  /** See `Taken` of the circuit. */
  probe: number | null;
}

/** Leases up to `room` due top-ups of a queue, oldest first; a lease that ran out is taken over. */
export async function claimTopups(tx: Tx, { supplier, room }: TopupQueue & { room: number }): Promise<ClaimedTopup[]> {
  const rows = await (supplier === null ? inSandbox(tx, { limit: room }) : atSupplier(tx, { supplier, limit: room }));
  const claimed: ClaimedTopup[] = [];
  for (const topup of rows) {
    const lease = leaseOn<"topups">(topup);
    // One that is under way goes on there.
    const passage = supplier === null || topup.memory !== null ? null : await takePassage(tx, supplier);
    if (passage?.open) await topupLeases.release(tx, { lease, dueAt: tx.now + CIRCUIT_WAIT_MS });
    else claimed.push({ topup, lease, probe: passage?.probe ?? null });
  }
  return claimed;
}

/** How the supplier of a claimed top-up is reached, and its eSIM there. */
export interface TopupContact {
  /** Null: the supplier is not set up any more. */
  contact: SupplierContact | null;
  esim: EsimRef;
}

/**
 * What a step of a claimed top-up needs, asked right before it is made; null: it must not be made, as another worker
 * may have the top-up by now, or it has ended.
 */
export async function topupContact(
  q: Read,
  { lease, topup }: { lease: Lease<"topups">; topup: Pick<TopupRow, "supplier" | "esim_id" | "iccid"> },
): Promise<TopupContact | null> {
  const until = await topupLeases.heldUntil(q, lease);
  if (until === null || !maySend({ until }, q.now)) return null;
  const esim = await findEsim(q, topup.esim_id);
  const contact = topup.supplier === null ? null : await supplierContact(q, topup.supplier);
  return { contact, esim: { iccid: topup.iccid, reference: esim?.supplier_ref ?? null } };
}

/** Has a top-up looked at again, after an unexpected fault in this process. */
export async function postponeTopup(tx: Tx, input: { lease: Lease<"topups">; delayMs: number }): Promise<void> {
  await topupLeases.release(tx, { lease: input.lease, dueAt: tx.now + input.delayMs });
}

/** Releases leases, so that any worker can claim the top-ups at once. */
export async function releaseTopups(tx: Tx, held: Lease<"topups">[]): Promise<void> {
  for (const lease of held) await topupLeases.release(tx, { lease, dueAt: tx.now });
}
