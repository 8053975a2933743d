import { and, count, eq, sql } from "drizzle-orm";
import type { WebhookId } from "../kernel/brand.ts";
import { isoTime, isoTimeOrNull } from "../kernel/clock.ts";
import type { Owner } from "../kernel/owner.ts";
import { notFound, Problem } from "../kernel/problem.ts";
import type { Transitions } from "../kernel/state-machine.ts";
import { findByKey } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import type { DeliveryStatus, WebhookStatus } from "../store/schema/values.ts";
import { isListed, listOf, type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";

export type WebhookRow = Row<"webhookEndpoints">;

/** The endpoint's row, or null when there is none (any more). */
function findWebhook(q: Read, id: WebhookId): Promise<WebhookRow | null> {
  return findByKey(q, "webhookEndpoints", { id });
}

const ofIds = statement((db, t, slot: Slots<{ ids: string }>, dialect) =>
  db
    .select()
    .from(t.webhookEndpoints)
    .where(isListed(dialect, t.webhookEndpoints.id, slot.ids)),
);

/** The rows of those endpoints that there are (still). */
export async function findWebhooks(q: Read, ids: readonly WebhookId[]): Promise<Map<WebhookId, WebhookRow>> {
  if (ids.length === 0) return new Map();
  const rows = await ofIds(q, { ids: listOf(ids) });
  return new Map(rows.map((row) => [row.id, row]));
}

/** The row of any partner's endpoint. Throws `not_found`. */
export async function requireWebhook(q: Read, id: WebhookId): Promise<WebhookRow> {
  const row = await findWebhook(q, id);
  if (row === null) throw notFound("webhook");
  return row;
}

/** The endpoint's row, if it is `owner`'s. Throws `not_found` otherwise, whether it exists or not. */
export async function requireOwnWebhook(q: Read, owner: Owner, id: WebhookId): Promise<WebhookRow> {
  const row = await requireWebhook(q, id);
  if (row.partner_id !== owner.partnerId || row.environment !== owner.environment) throw notFound("webhook");
  return row;
}

/** An endpoint that is acted on: the operator's may be any partner's, a partner's own only. */
export interface WebhookAct {
  id: WebhookId;
  /** Left out: the operator acts. */
  owner?: Owner | undefined;
  actor: string;
}

/** The row of the endpoint that is acted on. Throws `not_found`. */
export function webhookActedOn(q: Read, { id, owner }: WebhookAct): Promise<WebhookRow> {
  return owner === undefined ? requireWebhook(q, id) : requireOwnWebhook(q, owner, id);
}

/** The Webhook record (contract: Webhook). */
export function toWebhook(row: WebhookRow) {
  const { id, url, events, status, environment, description } = row;
  const times = { created_at: isoTime(row.created_at), updated_at: isoTime(row.updated_at) };
  return { id, url, events, status, environment, description, ...times };
}

export type Webhook = ReturnType<typeof toWebhook>;

const pendingOf = statement((db, t, slot: Slots<{ ids: string }>, dialect) =>
  db
    .select({ id: t.webhookEndpoints.id, waiting: count(t.deliveries.id) })
    .from(t.webhookEndpoints)
    // Must match the partial index predicate exactly.
    .innerJoin(
      t.deliveries,
      and(eq(t.deliveries.endpoint_id, t.webhookEndpoints.id), sql`${t.deliveries.status} = 'pending'`),
    )
    .where(isListed(dialect, t.webhookEndpoints.id, slot.ids))
    .groupBy(t.webhookEndpoints.id),
);

/**
 * The records with their health: the last attempt, deliveries exhausted in a row, attempts failed in a row and since
 * when, and how many deliveries wait to be sent.
 */
export async function toWebhookDetails(q: Read, rows: readonly WebhookRow[]) {
  const ids = listOf(rows.map(({ id }) => id));
  const pending = new Map((await pendingOf(q, { ids })).map(({ id, waiting }) => [id, waiting]));
  return rows.map((row) => ({
    ...toWebhook(row),
    last_delivery: lastDelivery(row),
    consecutive_failures: row.consecutive_failures,
    failing_since: isoTimeOrNull(row.failing_since),
    failed_attempts: row.failed_attempts,
    pending_deliveries: pending.get(row.id) ?? 0,
  }));
}

export type WebhookDetail = Awaited<ReturnType<typeof toWebhookDetails>>[number];

/** The same of one. */
export async function toWebhookDetail(q: Read, row: WebhookRow): Promise<WebhookDetail> {
  const [detail] = await toWebhookDetails(q, [row]);
  if (detail === undefined) throw new Error("a row without its record");
  return detail;
}

function lastDelivery({ last_event, last_event_id, last_status_code, last_at }: WebhookRow) {
  if (last_event === null || last_event_id === null || last_at === null) return null;
  return { event: last_event, event_id: last_event_id, status_code: last_status_code, at: isoTime(last_at) };
}

/** One endpoint (contract: GET /webhooks/{id}). Throws `not_found`. */
export async function showWebhook(q: Read, input: { owner: Owner; id: WebhookId }): Promise<WebhookDetail> {
  return toWebhookDetail(q, await requireOwnWebhook(q, input.owner, input.id));
}

/** Contract: Webhook status. 410 Gone or the operator disables; deliveries exhausted in a row fail it. */
export const webhookTransitions: Transitions<WebhookStatus> = {
  active: ["disabled", "failed"],
  disabled: ["active"],
  failed: ["active", "disabled"],
};

/**
 * One event on its way to one endpoint. What was settled becomes pending again by a redelivery only;
 * what is held is exhausted when the body of its event is cleared.
 */
export const deliveryTransitions: Transitions<DeliveryStatus> = {
  pending: ["delivered", "exhausted", "held"],
  held: ["pending", "delivered", "exhausted"],
  exhausted: ["pending"],
  delivered: ["pending"],
};

/** Throws `conflict` unless the endpoint is in service. */
export function requireActive(row: WebhookRow): void {
  if (row.status === "active") return;
  throw new Problem("conflict", `Webhook ${row.id} is ${row.status}: nothing is sent to it until it is enabled.`);
}

/** What the audit trail says of an act on an endpoint. */
export function auditOf(row: WebhookRow, action: string, actor: string) {
  return { actor, action, targetKind: "webhook", targetId: row.id, partnerId: row.partner_id };
}
