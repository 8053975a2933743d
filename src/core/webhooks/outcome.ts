import { and, isNotNull, sql } from "drizzle-orm";
import type { DeliveryId, WebhookId } from "../kernel/brand.ts";
import { newId } from "../kernel/ids.ts";
import { assertMove } from "../kernel/state-machine.ts";
import { findByKey, insert, updateRow } from "../store/rows.ts";
import type { Lane } from "../store/schema/lanes.ts";
import type { DeliveryStatus } from "../store/schema/values.ts";
import { numberAt, type Slots, statement, textAt } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";
import { type HealthBook, openHealthBook, type Tried } from "./health.ts";
import { lockEndpoints, lookAgain } from "./look-again.ts";
import { type Verdict, verdictOn } from "./retries.ts";
import { deliveryTransitions } from "./webhook.ts";

/** What became of one try. */
export interface Outcome extends Tried {
  id: DeliveryId;
  /** The number of the lease under which it was made, and the attempts that had ended before. */
  leaseNo: number;
  attempts: number;
  latencyMs: number;
  /** Why no answer came, or why it was cut off, in words. */
  error: string | null;
  /** The beginning of the answer's body. */
  body: string | null;
}

/** What an outcome makes of its delivery while its lease is held. */
interface Settlement {
  outcome: Outcome;
  verdict: Verdict;
  status: DeliveryStatus;
  attempts: number;
  due_at: number;
}

/** A lease as its delivery has it, in one text. */
const leaseKey = (id: DeliveryId, no: number) => `${id} ${no}`;

/**
 * `settled` is JSON: a list of lists of id, number of the lease, status, attempts and due_at. Only the holder of a
 * lease writes, and only what still waits.
 */
const settleAll = statement((db, t, slot: Slots<{ settled: string }>, dialect) =>
  db
    .update(t.deliveries)
    .set({
      status: textAt<DeliveryStatus>(2),
      attempts: numberAt(3),
      due_at: numberAt(4),
      leased_until: null,
    })
    .from(dialect.listed(slot.settled))
    .where(
      and(
        dialect.joined(t.deliveries.id, slot.settled),
        sql`${t.deliveries.lease_no} = ${numberAt(1)}`,
        isNotNull(t.deliveries.leased_until),
        sql`${t.deliveries.status} = 'pending'`,
      ),
    )
    .returning({ id: t.deliveries.id, lease_no: t.deliveries.lease_no }),
);

/**
 * Records the outcomes of attempts: each delivery has arrived, is due again after its wait, or is exhausted; its
 * endpoint's health follows (410 disables it, 20 exhausted in a row fail it). Nothing happens to a delivery that was
 * deleted, and an attempt whose lease was lost is only recorded. As many statements, however many outcomes.
 */
export async function applyOutcomes(tx: Tx, outcomes: Outcome[]): Promise<void> {
  const book = await settleOutcomes(tx, outcomes);
  await lockEndpoints(tx, book.noted());
  await book.write();
  await lookAgain(tx, retriedBy(outcomes));
}

applyOutcomes.lane = (outcomes: Outcome[]): Lane | null => laneOfOutcomes(outcomes);

/**
 * The lane in which outcomes are recorded; null: one may stop its endpoint, before others are claimed, and orders would
 * wait for that endpoint through the whole turn.
 */
export function laneOfOutcomes(outcomes: readonly Outcome[]): Lane | null {
  const mayStop = outcomes.some(({ statusCode, attempts }) => {
    const { kind } = verdictOn(statusCode, attempts + 1);
    return kind === "gone" || kind === "exhausted";
  });
  return mayStop ? null : { kind: "deliveries", key: "" };
}

/** Endpoints of which a delivery may be due again after its wait. */
export function retriedBy(outcomes: readonly Outcome[]): Set<WebhookId> {
  const retried = outcomes.filter(({ statusCode, attempts }) => verdictOn(statusCode, attempts + 1).kind === "retry");
  return new Set(retried.map(({ endpointId }) => endpointId));
}

/**
 * Records outcomes, and stops the endpoints that are gone or failed too often: all but the health of endpoints, which
 * is left to the book, and when to look at them again.
 */
export async function settleOutcomes(tx: Tx, outcomes: readonly Outcome[]): Promise<HealthBook> {
  const book = await openHealthBook(tx, new Set(outcomes.map(({ endpointId }) => endpointId)));
  if (outcomes.length === 0) return book;
  const settlements = outcomes.map((outcome) => settlementOf(tx, outcome));
  const rows = settlements.map(({ outcome, status, attempts, due_at }) => {
    return [outcome.id, outcome.leaseNo, status, attempts, due_at];
  });
  const held = await settleAll(tx, { settled: JSON.stringify(rows) });
  // One row is settled once: as many rows as outcomes are those of all of them.
  const all = held.length === settlements.length;
  const settled = new Set(all ? [] : held.map(({ id, lease_no }) => leaseKey(id, lease_no)));
  const recorded: Outcome[] = [];
  for (const settlement of settlements) {
    const { outcome, verdict } = settlement;
    if (all || settled.delete(leaseKey(outcome.id, outcome.leaseNo))) book.note(outcome, verdict);
    else if (!(await applyLate(tx, book, settlement))) continue;
    recorded.push(outcome);
  }
  await recordAttempts(tx, recorded);
  await book.stop();
  return book;
}

function settlementOf(tx: Tx, outcome: Outcome): Settlement {
  const attempts = outcome.attempts + 1;
  const verdict = verdictOn(outcome.statusCode, attempts);
  const status = statusAfter(verdict);
  if (status !== "pending") assertMove(deliveryTransitions, "pending", status);
  const due_at = verdict.kind === "retry" ? tx.now + verdict.delayMs : tx.now;
  return { outcome, verdict, status, attempts, due_at };
}

/** What its endpoint does not want any more is held, not lost. */
function statusAfter(verdict: Verdict): DeliveryStatus {
  if (verdict.kind === "gone") return "held";
  return verdict.kind === "retry" ? "pending" : verdict.kind;
}

/**
 * The endpoint was stopped, or the lease lost, during the attempt. A 2xx of a held delivery still counts. False: the
 * delivery is gone, and with it the attempt.
 */
async function applyLate(tx: Tx, book: HealthBook, { outcome, verdict }: Settlement): Promise<boolean> {
  const delivery = await findByKey(tx, "deliveries", { id: outcome.id });
  if (delivery === null) return false;
  if (delivery.status !== "held" || delivery.lease_no !== outcome.leaseNo || delivery.leased_until === null)
    return true;
  if (verdict.kind === "delivered") {
    const arrived = {
      status: "delivered",
      attempts: delivery.attempts + 1,
      due_at: tx.now,
      leased_until: null,
    } as const;
    await updateRow(tx, "deliveries", { id: delivery.id }, arrived);
  }
  book.note(outcome, verdict);
  return true;
}

async function recordAttempts(tx: Tx, outcomes: Outcome[]): Promise<void> {
  const rows = outcomes.map((outcome) => ({
    id: newId(tx),
    delivery_id: outcome.id,
    at: outcome.at,
    status_code: outcome.statusCode,
    latency_ms: outcome.latencyMs,
    error: outcome.error,
    response_body: outcome.body,
  }));
  await insert(tx, "deliveryAttempts", rows);
}
