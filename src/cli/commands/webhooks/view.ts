import type { WebhookId } from "../../../core/kernel/brand.ts";
import { counted } from "../../../core/kernel/counted.ts";
import type { Delivery } from "../../../core/webhooks/deliveries.ts";
import type { OwnDelivery, Webhook, WebhookDetail } from "../../client/answers.ts";
import type { OwnerOf } from "../../client/api.ts";
import { type Result, recordResult } from "../../output/result.ts";
import type { Column, Sheet } from "../../output/sheet.ts";
import { moment, shown, statusPaint } from "../../output/words.ts";

/** The keys of an endpoint's JSON. */
export const WEBHOOK_JSON = "{id, url, events, status, environment, description, created_at, updated_at}";

/** The keys of an endpoint's JSON with its health. */
export const DETAIL_JSON =
  `${WEBHOOK_JSON.slice(0, -1)}, last_delivery: {event, event_id, status_code, at} or null, consecutive_failures, ` +
  "failing_since, failed_attempts, pending_deliveries}";

/** The keys of a delivery's JSON. */
export const DELIVERY_JSON =
  "{id, event, event_id, endpoint_id, url, status, held_reason, next_attempt_at, created_at, " +
  "attempts: [{at, status_code, latency_ms, error, response_body}]}";

export const webhookColumns: Column<WebhookDetail>[] = [
  { title: "id", value: (one) => one.id },
  { title: "status", value: (one) => one.status, paint: (sheet, { status }) => statusPaint(sheet, status) },
  { title: "url", value: (one) => one.url, shrinks: true },
  { title: "failed", value: (one) => one.failed_attempts, align: "right" },
  { title: "waiting", value: (one) => one.pending_deliveries, align: "right" },
  { title: "events", value: (one) => one.events.join(" "), wraps: true, spare: 1 },
  {
    title: "last",
    value: lastAttempt,
    paint: ({ paint }, one) => (one.failed_attempts > 0 ? paint.red : paint.reset),
    spare: true,
  },
  { title: "created", value: (one) => moment(one.created_at), spare: true },
];

/** An endpoint's own fields, for people. */
export function webhookFields(sheet: Sheet, one: Webhook): Record<string, string> {
  return {
    id: one.id,
    url: shown(one.url),
    status: statusPaint(sheet, one.status)(one.status),
    environment: one.environment,
    events: one.events.join(", "),
    description: shown(one.description),
    created: moment(one.created_at),
  };
}

/** One endpoint with its health. */
export function detailResult(detail: WebhookDetail, more?: string): Result {
  return recordResult(
    detail,
    (sheet) => ({
      ...webhookFields(sheet, detail),
      "last attempt": lastDelivery(detail),
      "failed in a row": failedAttempts(detail),
      "given up in a row": `${counted(detail.consecutive_failures, "delivery", "deliveries")}, 20 stop the endpoint`,
      waiting: counted(detail.pending_deliveries, "delivery", "deliveries"),
    }),
    more,
  );
}

/** When the last attempt was and what came of it, for a table. */
function lastAttempt({ last_delivery: last }: WebhookDetail): string | null {
  return last && `${moment(last.at)} ${last.status_code ?? "no answer"}`;
}

function failedAttempts({ failed_attempts, failing_since }: WebhookDetail): string {
  return failing_since === null ? "none" : `${failed_attempts} since ${moment(failing_since)}`;
}

function lastDelivery({ last_delivery: last }: WebhookDetail): string {
  if (last === null) return "none yet";
  const answer = last.status_code === null ? "no answer" : `answered ${last.status_code}`;
  return `${moment(last.at)} ${last.event} ${answer} (${last.event_id})`;
}

export const deliveryColumns: Column<Delivery>[] = [
  { title: "created", value: (one) => moment(one.created_at), spare: 5 },
  { title: "event", value: (one) => one.event, shrinks: true },
  { title: "status", value: (one) => one.status, paint: (sheet, { status }) => deliveryPaint(sheet, status) },
  { title: "tries", value: (one) => one.attempts.length, align: "right", spare: 1 },
  { title: "code", value: (one) => one.attempts.at(-1)?.status_code ?? null, align: "right", spare: 4 },
  { title: "ms", value: (one) => one.attempts.at(-1)?.latency_ms ?? null, align: "right", spare: true },
  { title: "answer", value: answerOf, shrinks: true, spare: 3 },
  { title: "url", value: (one) => one.url ?? "(deleted)", shrinks: true, spare: 2 },
  { title: "id", value: (one) => one.id, spare: 6 },
];

/** What a partner sees of a delivery to its endpoint. */
export const ownDeliveryColumns: Column<OwnDelivery>[] = [
  { title: "created", value: (one) => moment(one.created_at), spare: 3 },
  { title: "event", value: (one) => one.event, shrinks: true },
  { title: "status", value: (one) => one.status, paint: (sheet, { status }) => deliveryPaint(sheet, status) },
  { title: "tries", value: (one) => one.attempts, align: "right", spare: 1 },
  { title: "code", value: (one) => one.last_status_code, align: "right", spare: 2 },
  { title: "error", value: (one) => one.last_error, shrinks: true, spare: true },
  { title: "id", value: (one) => one.id },
];

function answerOf(one: Delivery): string | null {
  const last = one.attempts.at(-1);
  if (one.held_reason === "pending_limit") return "held: too many wait for this endpoint";
  return last === undefined ? null : (last.error ?? last.response_body);
}

function deliveryPaint(sheet: Sheet, status: Delivery["status"]): (text: string) => string {
  const alike = { delivered: "fulfilled", pending: "pending", exhausted: "failed", held: "waiting_review" };
  return statusPaint(sheet, alike[status]);
}

/** Whose the endpoint is, by its id. */
export function ownerOfWebhook(typed: string): OwnerOf {
  return async (store) => {
    const { requireWebhook } = await import("../../../core/webhooks/webhook.ts");
    // What was typed is looked up; anything that is no endpoint's id is not found.
    return store.read(requireWebhook, typed.trim().toLowerCase() as WebhookId);
  };
}
