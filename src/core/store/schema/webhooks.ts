import { sql } from "drizzle-orm";
import type { EventKind, Subscription } from "../../events/catalog.ts";
import type { DeliveryId, PartnerId, WebhookId } from "../../kernel/brand.ts";
import type { Environment } from "../../kernel/environment.ts";
import { type Kit, leaseColumns } from "./kit.ts";
import type { outboxTables } from "./outbox.ts";
import type { partnersTables } from "./partners.ts";
import type { DeliveryStatus, HeldReason, WebhookStatus } from "./values.ts";

type Parents = Pick<ReturnType<typeof partnersTables>, "partners"> & Pick<ReturnType<typeof outboxTables>, "events">;

/** Where partners want their events, what is on its way there, and how each attempt went. */
export function webhooksTables(k: Kit, { partners, events }: Parents) {
  const webhookEndpoints = k.table(
    "webhook_endpoints",
    {
      id: k.text("id").$type<WebhookId>().primaryKey(),
      partner_id: k
        .text("partner_id")
        .$type<PartnerId>()
        .notNull()
        .references(() => partners.id),
      environment: k.text("environment").$type<Environment>().notNull(),
      url: k.text("url").notNull(),
      events: k.json<Subscription[]>("events").notNull(),
      status: k.text("status").$type<WebhookStatus>().notNull(),
      description: k.text("description"),
      /** The signing secret, sealed by the vault. */
      secret_sealed: k.text("secret_sealed").notNull(),
      /** The secret that takes over at `next_secret_from`; both sign until then. */
      next_secret_sealed: k.text("next_secret_sealed"),
      next_secret_from: k.int("next_secret_from"),
      /** Deliveries exhausted in a row. */
      consecutive_failures: k.int("consecutive_failures").notNull(),
      /** Attempts that failed since the last one that arrived, and when the first of them was made; null: none did. */
      failed_attempts: k.int("failed_attempts").notNull().default(0),
      failing_since: k.int("failing_since"),
      /** Attempts in a row whose response was cut off at the bound of bytes. */
      cut_attempts: k.int("cut_attempts").notNull().default(0),
      /** No attempt is made before this moment, since responses were cut off; null: none is held back. */
      waits_until: k.int("waits_until"),
      /** When the worker should look at its queue; never later than its first due delivery. Null: nothing waits. */
      due_at: k.int("due_at"),
      /** The last attempt, whatever its outcome. */
      last_event: k.text("last_event").$type<EventKind>(),
      last_event_id: k.text("last_event_id"),
      last_status_code: k.int("last_status_code"),
      last_at: k.int("last_at"),
      created_at: k.int("created_at").notNull(),
      updated_at: k.int("updated_at").notNull(),
    },
    (t) => [
      k.index("webhook_endpoints_list").on(t.partner_id, t.environment, t.created_at, t.id),
      k.index("webhook_endpoints_due").on(t.due_at, t.id),
      k
        .index("webhook_endpoints_failing")
        .on(t.failing_since, t.id)
        .where(sql`(failing_since is not null or status = 'failed')`),
      k
        .index("webhook_endpoints_due_partner")
        .on(t.environment, t.partner_id, t.due_at, t.id)
        .where(sql`due_at is not null`),
    ],
  );

  const deliveries = k.table(
    "deliveries",
    {
      id: k.text("id").$type<DeliveryId>().primaryKey(),
      event_id: k
        .text("event_id")
        .notNull()
        .references(() => events.id),
      /** No reference: what became of deliveries stays known when the endpoint is deleted. */
      endpoint_id: k.text("endpoint_id").$type<WebhookId>().notNull(),
      status: k.text("status").$type<DeliveryStatus>().notNull(),
      /** Attempts that ended, since it was created or last redelivered. */
      attempts: k.int("attempts").notNull(),
      /** Pending: when the next attempt is due or the lease of the one under way ends. Else: when it was settled. */
      due_at: k.int("due_at").notNull(),
      ...leaseColumns(k),
      held_reason: k.text("held_reason").$type<HeldReason>(),
      created_at: k.int("created_at").notNull(),
    },
    (t) => [
      k.uniqueIndex("deliveries_event").on(t.event_id, t.endpoint_id),
      k.index("deliveries_queue").on(t.endpoint_id, t.due_at, t.id).where(sql`${t.status} = 'pending'`),
      k
        .index("deliveries_retries")
        .on(t.endpoint_id, t.due_at, t.id)
        .where(sql`${t.status} = 'pending' and ${t.attempts} > 0`),
      k.index("deliveries_endpoint").on(t.endpoint_id, t.id),
      k.index("deliveries_stuck_endpoint").on(t.endpoint_id, t.id).where(sql`${t.status} in ('exhausted', 'held')`),
      k.index("deliveries_stuck").on(t.id).where(sql`${t.status} in ('exhausted', 'held')`),
      k.index("deliveries_held").on(t.id).where(sql`${t.status} = 'held'`),
    ],
  );

  const deliveryAttempts = k.table(
    "delivery_attempts",
    {
      id: k.text("id").primaryKey(),
      delivery_id: k
        .text("delivery_id")
        .$type<DeliveryId>()
        .notNull()
        .references(() => deliveries.id),
      at: k.int("at").notNull(),
      /** Null: no answer came. */
      status_code: k.int("status_code"),
      latency_ms: k.int("latency_ms").notNull(),
      /** Why no answer came, or why it was cut off, in words. */
      error: k.text("error"),
      /** The beginning of the answer's body. */
      response_body: k.text("response_body"),
    },
    (t) => [k.index("delivery_attempts_delivery").on(t.delivery_id, t.id)],
  );

  return { webhookEndpoints, deliveries, deliveryAttempts };
}
