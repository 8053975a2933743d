import { Type } from "typebox";
import { eventKinds, subscriptions } from "../../core/events/catalog.ts";
import { environments } from "../../core/kernel/environment.ts";
import { webhookStatuses } from "../../core/store/schema/values.ts";
import { Nullable, named, OneOf, Pagination, pageQuery, Timestamp, UuidOf } from "./common.ts";

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

export const WebhookPage = Type.Object({ data: Type.Array(Webhook), pagination: Pagination }, named("WebhookPage"));

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
  },
  named("WebhookDetail"),
);
