import { and, eq, isNotNull, sql } from "drizzle-orm";
import type { DeliveryId } from "../kernel/brand.ts";
import { newId } from "../kernel/ids.ts";
import { assertMove } from "../kernel/state-machine.ts";
import { findByKey, insertRow, updateRow } from "../store/rows.ts";
import type { DeliveryStatus } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";
import { createHealthBook, type HealthBook, type Tried } from "./health.ts";
import { type Verdict, verdictOn } from "./retries.ts";
import { deliveryTransitions } from "./webhook.ts";

/** What became of one try. */
export interface Outcome extends Tried {
  id: DeliveryId;
  /** The number of the lease under which it was made, and the attempts that had ended before. */
  leaseNo: number;
  attempts: number;
  latencyMs: number;
  /** Why no answer came, in words. */
  error: string | null;
  /** The beginning of the answer's body. */
  body: string | null;
}

type Settled = { id: DeliveryId; lease_no: number; status: DeliveryStatus; attempts: number; due_at: number };

// Only the holder of the lease writes, and only what still waits.
const settle = statement((db, t, slot: Slots<Settled>) =>
  db
    .update(t.deliveries)
    .set({ status: slot.status, attempts: slot.attempts, due_at: slot.due_at, leased_until: null })
    .where(
      and(
        eq(t.deliveries.id, slot.id),
        eq(t.deliveries.lease_no, slot.lease_no),
        isNotNull(t.deliveries.leased_until),
        sql`${t.deliveries.status} = 'pending'`,
      ),
    )
    .returning({ id: t.deliveries.id }),
);

/**
 * Records the outcomes of attempts: each delivery has arrived, is due again after its wait, or is exhausted; its
 * endpoint's health follows (410 disables it, 20 exhausted in a row fail it). Nothing happens to a delivery that was
 * deleted, and an attempt whose lease was lost is only recorded.
 */
export async function applyOutcomes(tx: Tx, outcomes: Outcome[]): Promise<void> {
  const book = createHealthBook(tx);
  for (const outcome of outcomes) await applyOutcome(tx, book, outcome);
  await book.write();
}

async function applyOutcome(tx: Tx, book: HealthBook, outcome: Outcome): Promise<void> {
  const { id, leaseNo } = outcome;
  const attempts = outcome.attempts + 1;
  const verdict = verdictOn(outcome.statusCode, attempts);
  const status = statusAfter(verdict);
  if (status !== "pending") assertMove(deliveryTransitions, "pending", status);
  const due_at = verdict.kind === "retry" ? tx.now + verdict.delayMs : tx.now;
  const settled = await settle(tx, { id, lease_no: leaseNo, status, attempts, due_at });
  if (settled.length === 0) return applyLate(tx, book, outcome, verdict);
  await recordAttempt(tx, outcome);
  await book.note(outcome, verdict, status === "pending" ? due_at : null);
}

/** What its endpoint does not want any more is held, not lost. */
function statusAfter(verdict: Verdict): DeliveryStatus {
  if (verdict.kind === "gone") return "held";
  return verdict.kind === "retry" ? "pending" : verdict.kind;
}

/** The endpoint was stopped, or the lease lost, during the attempt. A 2xx of a held delivery still counts. */
async function applyLate(tx: Tx, book: HealthBook, outcome: Outcome, verdict: Verdict): Promise<void> {
  const delivery = await findByKey(tx, "deliveries", { id: outcome.id });
  if (delivery === null) return;
  await recordAttempt(tx, outcome);
  if (delivery.status !== "held" || delivery.lease_no !== outcome.leaseNo || delivery.leased_until === null) return;
  if (verdict.kind === "delivered") {
    const arrived = {
      status: "delivered",
      attempts: delivery.attempts + 1,
      due_at: tx.now,
      leased_until: null,
    } as const;
    await updateRow(tx, "deliveries", { id: delivery.id }, arrived);
  }
  await book.note(outcome, verdict, null);
}

async function recordAttempt(tx: Tx, outcome: Outcome): Promise<void> {
  await insertRow(tx, "deliveryAttempts", {
    id: newId(tx),
    delivery_id: outcome.id,
    at: outcome.at,
    status_code: outcome.statusCode,
    latency_ms: outcome.latencyMs,
    error: outcome.error,
    response_body: outcome.body,
  });
}
