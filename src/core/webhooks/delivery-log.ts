import { and, desc, eq, lt, sql } from "drizzle-orm";
import type { EventKind } from "../events/catalog.ts";
import type { DeliveryId, WebhookId } from "../kernel/brand.ts";
import { isoTime } from "../kernel/clock.ts";
import type { Owner } from "../kernel/owner.ts";
import { type Pagination, type Position, pageOf } from "../kernel/page.ts";
import { notFound } from "../kernel/problem.ts";
import { findByKey } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import type { DeliveryStatus } from "../store/schema/values.ts";
import type { Read } from "../store/store.ts";
import { attemptsOfDelivery, createdWithin, type Span, triesOf } from "./deliveries.ts";
import { requireOwnWebhook } from "./webhook.ts";

/** Which deliveries of an endpoint, and which page of them. */
export interface DeliveryLogFilter {
  owner: Owner;
  webhookId: WebhookId;
  status?: DeliveryStatus | undefined;
  /** Only those that did not arrive and are not tried any more: exhausted or held. */
  failed?: boolean | undefined;
  event_id?: string | undefined;
  created?: Span | undefined;
  limit: number;
  cursor?: string | undefined;
}

/** One event on its way to an endpoint, as its partner sees it. */
export type LoggedDelivery = ReturnType<typeof toDelivery>;

/** A page of an endpoint's deliveries, newest first. Throws `not_found`, `invalid_cursor`. */
export async function listOwnDeliveries(
  q: Read,
  filter: DeliveryLogFilter,
): Promise<{ data: LoggedDelivery[]; pagination: Pagination }> {
  const { deliveries, events } = q.t;
  const { owner, webhookId, status, failed = false, event_id, created = {}, limit, cursor } = filter;
  await requireOwnWebhook(q, owner, webhookId);
  const binding = {
    list: "own deliveries",
    ...owner,
    webhookId,
    status,
    filter: event_id,
    ...created,
    ...(failed ? { failed } : {}),
  };
  const start: Position<string> = { key: "", id: "" };
  const { rows, pagination } = await pageOf(
    { limit, cursor, binding, start },
    // Built per call: it is asked for in several shapes, and rarely.
    ({ first, id, limit: most }) =>
      q.db
        .select({ delivery: deliveries, event: events.kind })
        .from(deliveries)
        .innerJoin(events, eq(events.id, deliveries.event_id))
        .where(
          and(
            eq(deliveries.endpoint_id, webhookId),
            status === undefined ? undefined : eq(deliveries.status, status),
            // Must match the partial index predicates exactly.
            status === "pending" ? sql`${deliveries.status} = 'pending'` : undefined,
            failed || status === "held" || status === "exhausted"
              ? sql`${deliveries.status} in ('exhausted', 'held')`
              : undefined,
            event_id === undefined ? undefined : eq(deliveries.event_id, event_id),
            createdWithin(q.t, created),
            // The position is an id that this list gave out.
            first ? undefined : lt(deliveries.id, id as DeliveryId),
          ),
        )
        .orderBy(desc(deliveries.id))
        .limit(most),
    ({ delivery: { id } }) => ({ key: id, id }),
  );
  const attempts = await triesOf(
    q,
    rows.map(({ delivery }) => delivery.id),
  );
  const data = rows.map(({ delivery, event }) =>
    toDelivery(delivery, event, attempts.get(delivery.id)?.at(-1) ?? null),
  );
  return { data, pagination };
}

/** One delivery of an endpoint with all its attempts, oldest first. Throws `not_found`. */
export async function showOwnDelivery(
  q: Read,
  { owner, webhookId, id }: { owner: Owner; webhookId: WebhookId; id: DeliveryId },
) {
  await requireOwnWebhook(q, owner, webhookId);
  const delivery = await findByKey(q, "deliveries", { id });
  if (delivery?.endpoint_id !== webhookId) throw notFound("delivery");
  const event = await findByKey(q, "events", { id: delivery.event_id });
  if (event === null) throw notFound("delivery");
  const attempts = await attemptsOfDelivery(q, id);
  return { ...toDelivery(delivery, event.kind, attempts.at(-1) ?? null), attempt_log: attempts.map(toLogged) };
}

function toDelivery(delivery: Row<"deliveries">, event: EventKind, last: Row<"deliveryAttempts"> | null) {
  const { id, event_id, status, attempts, due_at, leased_until, created_at } = delivery;
  return {
    id,
    event_id,
    event,
    status,
    attempts,
    next_attempt_at: status === "pending" && leased_until === null ? isoTime(due_at) : null,
    last_status_code: last?.status_code ?? null,
    last_error: last?.error ?? null,
    created_at: isoTime(created_at),
  };
}

/** Most bytes of a response that the log shows. */
const MOST_EXCERPT = 1024;

function toLogged({ at, latency_ms, status_code, error, response_body }: Row<"deliveryAttempts">) {
  const response_excerpt = response_body === null ? null : excerptOf(response_body);
  return { at: isoTime(at), duration_ms: latency_ms, status_code, error, response_excerpt };
}

/** The beginning of a text that fits, without a character cut in half. */
function excerptOf(text: string): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(MOST_EXCERPT));
  return text.slice(0, read);
}
