import { eq } from "drizzle-orm";
import type { DeliveryId, WebhookId } from "../kernel/brand.ts";
import { assertMove } from "../kernel/state-machine.ts";
import type { EventKind } from "../store/schema/event-kinds.ts";
import type { Row } from "../store/schema/tables.ts";
import type { DeliveryStatus } from "../store/schema/webhooks.ts";
import { first, insertRow, type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";
import { FAILURES_TO_GIVE_UP, type Verdict, verdictOn } from "./retries.ts";
import { deliveryTransitions } from "./states.ts";
import { stopEndpoint } from "./status.ts";
import { findWebhook, type WebhookRow } from "./webhook.ts";

/** What became of one try. */
export interface Outcome {
  id: DeliveryId;
  /** The lease under which it was made. */
  leasedUntil: number;
  /** The kind of the event that was sent. */
  event: EventKind;
  /** When it began (ms). */
  at: number;
  latencyMs: number;
  /** Null: no answer came; then `error` says why. */
  statusCode: number | null;
  error: string | null;
  /** The beginning of the answer's body. */
  body: string | null;
}

type DeliveryRow = Row<"deliveries">;

const byId = statement((db, t, slot: Slots<{ id: DeliveryId }>) =>
  db.select().from(t.deliveries).where(eq(t.deliveries.id, slot.id)),
);

type Progress = { id: DeliveryId; status: DeliveryStatus; attempts: number; due_at: number };

const writeDelivery = statement((db, t, slot: Slots<Progress>) =>
  db
    .update(t.deliveries)
    .set({ status: slot.status, attempts: slot.attempts, due_at: slot.due_at, leased_until: null })
    .where(eq(t.deliveries.id, slot.id)),
);

type Health = Pick<WebhookRow, "last_event" | "last_event_id" | "last_status_code" | "last_at" | "due_at"> & {
  id: WebhookId;
  failures: number;
};

const writeHealth = statement((db, t, slot: Slots<Health>) =>
  db
    .update(t.webhookEndpoints)
    .set({
      last_event: slot.last_event,
      last_event_id: slot.last_event_id,
      last_status_code: slot.last_status_code,
      last_at: slot.last_at,
      consecutive_failures: slot.failures,
      due_at: slot.due_at,
    })
    .where(eq(t.webhookEndpoints.id, slot.id)),
);

/**
 * Writes what became of a try: the delivery has arrived, is due again after its wait, or is exhausted; its endpoint's
 * health follows (410 disables it, 20 exhausted in a row fail it). Nothing happens to a delivery that was deleted, and
 * a try whose lease was lost is only recorded.
 */
export async function applyOutcome(tx: Tx, outcome: Outcome): Promise<void> {
  const delivery = first(await byId(tx, { id: outcome.id }));
  if (delivery === null) return;
  const endpoint = await findWebhook(tx, delivery.endpoint_id);
  await recordTry(tx, outcome);
  if (endpoint === null || delivery.leased_until !== outcome.leasedUntil) return;
  const verdict = verdictOn(outcome.statusCode, delivery.attempts + 1);
  const dueAt = verdict.kind === "retry" ? tx.now + verdict.delayMs : tx.now;
  const status = nextStatus(delivery, verdict);
  if (status !== delivery.status) assertMove(deliveryTransitions, delivery.status, status);
  await writeDelivery(tx, { id: delivery.id, status, attempts: delivery.attempts + 1, due_at: dueAt });
  const looked = status === "pending" ? Math.min(endpoint.due_at ?? dueAt, dueAt) : endpoint.due_at;
  const failures = failuresAfter(endpoint.consecutive_failures, status);
  await writeHealth(tx, {
    id: endpoint.id,
    last_event: outcome.event,
    last_event_id: delivery.event_id,
    last_status_code: outcome.statusCode,
    last_at: outcome.at,
    due_at: looked,
    failures,
  });
  if (endpoint.status !== "active") return;
  if (verdict.kind === "gone") await stopEndpoint(tx, { ...endpoint, consecutive_failures: failures }, "disabled");
  if (failures >= FAILURES_TO_GIVE_UP) {
    await stopEndpoint(tx, { ...endpoint, consecutive_failures: failures }, "failed");
  }
}

async function recordTry(tx: Tx, outcome: Outcome): Promise<void> {
  await insertRow(tx, "deliveryAttempts", {
    id: tx.ids.uuid(tx.now),
    delivery_id: outcome.id,
    at: outcome.at,
    status_code: outcome.statusCode,
    latency_ms: outcome.latencyMs,
    error: outcome.error,
    response_body: outcome.body,
  });
}

/** What its endpoint does not want any more is held, not lost. */
function nextStatus(delivery: DeliveryRow, verdict: Verdict): DeliveryStatus {
  if (verdict.kind === "delivered") return "delivered";
  if (verdict.kind === "gone" || delivery.status === "held") return "held";
  return verdict.kind === "retry" ? "pending" : "exhausted";
}

function failuresAfter(before: number, status: DeliveryStatus): number {
  if (status === "delivered") return 0;
  return status === "exhausted" ? before + 1 : before;
}
