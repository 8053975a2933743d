import { EVERY_KIND, type Subscription } from "../../core/events/catalog.ts";
import { counted } from "../../core/kernel/counted.ts";
import { FAILURES_TO_GIVE_UP } from "../../core/webhooks/retries.ts";
import type { WebhookDetail } from "../../core/webhooks/webhook.ts";
import type { Fields } from "./shown.tsx";

/** How an endpoint does, in a few words. */
export function endpointHealth(one: WebhookDetail): string {
  if (one.status === "failed") return "stopped: too many deliveries failed";
  if (one.status === "disabled") return "stopped: nothing is sent";
  if (one.failing_since !== null) return `failing: ${counted(one.failed_attempts, "attempt")} in a row`;
  return one.last_delivery === null ? "nothing sent yet" : "well";
}

/** Which events an endpoint gets, in words. */
export function subscriptionWords(events: readonly Subscription[]): string {
  return events.map((one) => (one === EVERY_KIND ? "all kinds" : one)).join(", ");
}

/** How an endpoint does, and what it is. */
export function endpointFacts(webhook: WebhookDetail): Fields {
  const { last_delivery: last, failing_since, failed_attempts } = webhook;
  const deliveries = (count: number) => counted(count, "delivery", "deliveries");
  return [
    ["Status", { status: webhook.status }],
    ["URL", webhook.url],
    ["Events", subscriptionWords(webhook.events)],
    ["Description", webhook.description],
    ["Last attempt", { time: last?.at ?? null }],
    ["Its response", last === null ? "none yet" : `${last.status_code ?? "no response"} to ${last.event}`],
    ["Failed in a row", failing_since === null ? "none" : counted(failed_attempts, "attempt")],
    ["Given up in a row", `${deliveries(webhook.consecutive_failures)}; ${FAILURES_TO_GIVE_UP} stop it`],
    ["Waiting", deliveries(webhook.pending_deliveries)],
    ["Made", { time: webhook.created_at }],
    ["Changed", { time: webhook.updated_at }],
    ["ID", webhook.id],
  ];
}

/** What is said once an endpoint is enabled or disabled; `where` is where what was held is sent again. */
export function endpointIs(status: "active" | "disabled", where: string): string {
  if (status === "disabled") return "The endpoint is disabled: events are kept.";
  return `The endpoint is enabled. What was held is not sent by itself: send it again ${where}.`;
}
