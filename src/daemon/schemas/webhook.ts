import { Type } from "typebox";
import { eventKinds, subscriptions } from "../../core/events/catalog.ts";
import { environments } from "../../core/kernel/environment.ts";
import { deliveryStatuses, webhookStatuses } from "../../core/store/schema/values.ts";
import { Moment, Nullable, named, OneOf, Pagination, pageQuery, Timestamp, UuidOf } from "./common.ts";

const WebhookId = UuidOf<"webhook">("The endpoint");
const Url = Type.String({ minLength: 1, maxLength: 2048, examples: ["https://shop.example.com/hooks/esim"] });
const Events = Type.Array(OneOf(subscriptions), {
  minItems: 1,
  // Repetitions count once.
  maxItems: 100,
  description: "The kinds of events it gets; `*`: all, those of later versions included",
  examples: [["order.fulfilled", "esims.ready"]],
});

/** Contract: body of POST /webhooks. */
export const NewWebhook = Type.Object(
  {
    url: Url,
    events: Events,
    environment: Type.Optional(OneOf(environments, { description: "The credential's; another one is refused" })),
    description: Type.Optional(Type.String({ maxLength: 500, examples: ["Order desk"] })),
  },
  named("NewWebhook"),
);

const webhook = {
  id: WebhookId,
  url: Url,
  events: Events,
  status: OneOf(webhookStatuses, { description: "Events of an endpoint that is not active are kept, not sent" }),
  environment: OneOf(environments),
  description: Nullable(Type.String()),
  created_at: Timestamp,
  updated_at: Timestamp,
};

/** Contract: Webhook. */
export const Webhook = Type.Object(webhook, named("Webhook"));

/** Contract: the answer to creating one. */
export const CreatedWebhook = Type.Object(
  {
    webhook: Webhook,
    secret: Type.String({
      description: "Signs every delivery. It is shown this once",
      examples: ["whsec_2f1cZ0p6mJr0cVYw0T9d3h0b4Qk8xLrNq5sW7uEyAaI"],
    }),
  },
  named("CreatedWebhook"),
);

export const WebhookQuery = Type.Object({
  ...pageQuery(),
  status: Type.Optional(OneOf(webhookStatuses)),
  environment: Type.Optional(OneOf(environments)),
});

export const WebhookParams = Type.Object({ id: WebhookId });

/** Contract: webhook detail. */
export const WebhookDetail = Type.Object(
  {
    ...webhook,
    last_delivery: Type.Unsafe<{
      event: (typeof eventKinds)[number];
      event_id: string;
      status_code: number | null;
      at: string;
    } | null>({
      ...named("WebhookDelivery"),
      type: ["object", "null"],
      description: "The last attempt, whatever its outcome",
      required: ["event", "event_id", "status_code", "at"],
      properties: {
        event: OneOf(eventKinds),
        event_id: { type: "string", examples: ["019cac0f-2680-7000-8000-27efbdfac0a8"] },
        status_code: { type: ["integer", "null"], description: "null: no response in time", examples: [200] },
        at: Timestamp,
      },
    }),
    consecutive_failures: Type.Integer({ description: "Deliveries in a row that exhausted their retries" }),
    failing_since: Nullable(
      Type.String({
        format: "date-time",
        description: "The first of the attempts in a row that failed; null: the last one arrived",
        examples: ["2026-03-02T09:30:00.000Z"],
      }),
    ),
    failed_attempts: Type.Integer({ description: "Attempts in a row that failed, from the first one on" }),
    pending_deliveries: Type.Integer({ description: "Deliveries that wait to be sent, or to be sent again" }),
  },
  named("WebhookDetail"),
);

export const WebhookPage = Type.Object(
  { data: Type.Array(WebhookDetail), pagination: Pagination },
  named("WebhookPage"),
);

/** Body of PATCH /webhooks/{id}. */
export const WebhookChange = Type.Object(
  {
    url: Type.Optional(Url),
    events: Type.Optional(Events),
    description: Type.Optional(
      Nullable(Type.String({ maxLength: 500, description: "null: none any more", examples: ["Order desk"] })),
    ),
    status: Type.Optional(
      OneOf(["active", "disabled"], {
        description: "`active` also ends `failed` and resets the count of failures; nothing that was held is sent",
      }),
    ),
  },
  named("WebhookChange"),
);

/** The secrets of an endpoint after a rotation. */
export const RotatedWebhook = Type.Object(
  {
    webhook: Webhook,
    secret: Type.String({
      description: "The new secret. It is shown this once",
      examples: ["whsec_2f1cZ0p6mJr0cVYw0T9d3h0b4Qk8xLrNq5sW7uEyAaI"],
    }),
    previous_secret_expires_at: Nullable(
      Type.String({
        format: "date-time",
        description:
          "Until then the old secret signs X-Webhook-Signature and the new one X-Webhook-Signature-Next; null: the " +
          "old one signs nothing any more",
        examples: ["2026-03-02T09:30:00.000Z"],
      }),
    ),
  },
  named("RotatedWebhook"),
);

/** Body of POST /webhooks/{id}/rotate-secret; it may be missing. */
export const SecretRotation = Type.Optional(
  Type.Object(
    {
      overlap_hours: Type.Integer({
        minimum: 0,
        maximum: 168,
        default: 24,
        description: "How long both secrets sign; 0 replaces it at once",
      }),
    },
    named("SecretRotation"),
  ),
);

export const SampleRequest = Type.Object(
  { event: OneOf(eventKinds, { examples: ["order.created"] }) },
  named("SampleRequest"),
);

const EventId = Type.String({ format: "uuid", examples: ["019cac0f-2680-7000-8000-27efbdfac0a8"] });
const DeliveryId = UuidOf<"delivery">("The delivery");

/** A sample on its way. */
export const SampleSent = Type.Object(
  { event: OneOf(eventKinds), event_id: EventId, delivery_id: DeliveryId },
  named("SampleSent"),
);

export const ReplayRequest = Type.Object(
  {
    since: Type.String({
      format: "date-time",
      description: "Deliveries of events from this time on",
      examples: ["2026-03-01T12:00:00Z"],
    }),
    kinds: Type.Optional(
      Type.Array(OneOf(eventKinds), {
        minItems: 1,
        maxItems: 100,
        description: "Events of these kinds only",
        examples: [["order.fulfilled"]],
      }),
    ),
  },
  named("ReplayRequest"),
);

export const Replayed = Type.Object(
  { count: Type.Integer({ description: "Deliveries that are on their way again", examples: [3] }) },
  named("Replayed"),
);

const delivery = {
  id: DeliveryId,
  event_id: EventId,
  event: OneOf(eventKinds),
  status: OneOf(deliveryStatuses, {
    description: "`exhausted`: all attempts failed; `held`: the endpoint is not active, or too many wait for it",
  }),
  attempts: Type.Integer({ description: "Attempts since it was made or last redelivered", examples: [2] }),
  next_attempt_at: Nullable(
    Type.String({
      format: "date-time",
      description: "null while an attempt is under way, and when none will follow",
      examples: ["2026-03-02T09:30:00.000Z"],
    }),
  ),
  last_status_code: Nullable(Type.Integer({ description: "null: no response, or no attempt yet", examples: [500] })),
  last_error: Nullable(
    Type.String({
      description: "Why there was no response, or why it was cut off",
      examples: ["the connection was refused"],
    }),
  ),
  created_at: Timestamp,
};

/** One event on its way to one endpoint. */
const Delivery = Type.Object(delivery, named("Delivery"));

export const DeliveryPage = Type.Object({ data: Type.Array(Delivery), pagination: Pagination }, named("DeliveryPage"));

export const DeliveryDetail = Type.Object(
  {
    ...delivery,
    attempt_log: Type.Array(
      Type.Object(
        {
          at: Timestamp,
          duration_ms: Type.Integer({ examples: [41] }),
          status_code: Nullable(Type.Integer({ examples: [500] })),
          error: Nullable(Type.String()),
          response_excerpt: Nullable(
            Type.String({ description: "The beginning of the response, 1 KiB at most", examples: ["try again"] }),
          ),
        },
        named("DeliveryAttempt"),
      ),
      { description: "Every attempt, oldest first" },
    ),
  },
  named("DeliveryDetail"),
);

export const DeliveryQuery = Type.Object({
  ...pageQuery(),
  status: Type.Optional(OneOf(deliveryStatuses)),
  failed: Type.Optional(
    Type.Boolean({ description: "true: those that did not arrive and are not tried any more, exhausted or held" }),
  ),
  event_id: Type.Optional(Type.String({ format: "uuid", description: "Deliveries of this event" })),
  created_after: Type.Optional(Moment("Deliveries created at this time or later")),
  created_before: Type.Optional(Moment("Deliveries created before this time")),
});

export const DeliveryParams = Type.Object({ id: WebhookId, delivery_id: DeliveryId });
