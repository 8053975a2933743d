import { type EventKind, eventCatalog, eventKinds } from "../../core/events/catalog.ts";
import type { EventDefinition } from "../../core/events/definition.ts";
import type { ObjectSchema } from "../../core/events/payload.ts";
import type { PartnerId } from "../../core/kernel/brand.ts";
import { isoTime } from "../../core/kernel/clock.ts";
import { ANSWER_LIMIT_MS, retryDelays } from "../../core/webhooks/retries.ts";
import { TOLERANCE_SECONDS } from "../../core/webhooks/signature.ts";
import { USER_AGENT } from "../gateways/signed-headers.ts";

const MOMENT = Date.parse("2026-03-02T09:30:00.000Z");
const EVENT_ID = "0199a0b1-0000-7000-8000-000000000003";
const signatureForm = { type: "string", pattern: "^t=\\d+,v1=[0-9a-f]{64}$" } as const;
const signatureSample = `t=${MOMENT / 1000},v1=b0f5514b59daca01e9b34888d0a33ff3a957d2f72392a4956418478b4f19c72c`;

/** The headers of a delivery, by the name of their component. */
const parameters = {
  WebhookSignature: {
    name: "X-Webhook-Signature",
    in: "header",
    required: true,
    description:
      "`t=<unix seconds>,v1=<lowercase hex>`: HMAC-SHA256 of `<t>.<raw body>`, keyed with the whole signing secret, " +
      "`whsec_` included. Compare in constant time, and reject a time more than " +
      `${TOLERANCE_SECONDS} seconds away from your clock.`,
    schema: signatureForm,
    example: signatureSample,
  },
  WebhookSignatureNext: {
    name: "X-Webhook-Signature-Next",
    in: "header",
    description: "The same under the next secret; only while a secret is being replaced",
    schema: signatureForm,
    example: signatureSample,
  },
  WebhookId: {
    name: "X-Webhook-Id",
    in: "header",
    required: true,
    description: "`event_id` of the body: the same at every attempt",
    schema: { type: "string" },
    example: EVENT_ID,
  },
  WebhookEvent: {
    name: "X-Webhook-Event",
    in: "header",
    required: true,
    description: "The kind of event, as in the body",
    schema: { type: "string", enum: eventKinds },
  },
  WebhookUserAgent: {
    name: "User-Agent",
    in: "header",
    required: true,
    description: "The sender and its version",
    schema: { type: "string" },
    example: USER_AGENT,
  },
} as const;

const seconds = retryDelays.map((delay) => delay / 1000).join(", ");

const responses = {
  "2XX": { description: `The event has arrived. Answer within ${ANSWER_LIMIT_MS / 1000} seconds.` },
  "410": { description: "The endpoint is gone: it becomes `disabled` and gets no more events." },
  default: { description: `The attempt failed. It is repeated after ${seconds} seconds, then given up.` },
};

/** `order.created` is OrderCreated, `esims.ready` EsimsReady. */
function pascalCase(kind: EventKind): string {
  return kind.replace(/(?:^|\.)(.)/g, (_, letter: string) => letter.toUpperCase());
}

function envelopeSchema(kind: EventKind, { when, data }: EventDefinition<ObjectSchema>) {
  return {
    type: "object",
    description: when,
    required: ["event", "event_id", "timestamp", "data"],
    properties: {
      event: { type: "string", const: kind },
      event_id: { type: "string", description: "The same at every attempt: work on each event once" },
      timestamp: { type: "string", format: "date-time", description: "When it happened" },
      data,
    },
  };
}

function sampleEnvelope(kind: EventKind) {
  const data = eventCatalog[kind].sample({
    subjectId: "0199a0b1-0000-7000-8000-000000000002",
    // A made-up partner ID, for the sample.
    partnerId: "0199a0b1-0000-7000-8000-000000000004" as PartnerId,
    now: MOMENT,
  });
  return { event: kind, event_id: EVENT_ID, timestamp: isoTime(MOMENT), data };
}

function deliveryOperation(kind: EventKind) {
  const { when, emitted } = eventCatalog[kind];
  const schema = { $ref: `#/components/schemas/${pascalCase(kind)}Event` };
  return {
    operationId: `on${pascalCase(kind)}`,
    tags: ["Webhooks"],
    summary: `Receive ${kind}`,
    description: emitted ? when : `Not sent. ${when}`,
    security: [],
    parameters: Object.keys(parameters).map((name) => ({ $ref: `#/components/parameters/${name}` })),
    requestBody: { required: true, content: { "application/json": { schema, example: sampleEnvelope(kind) } } },
    responses,
  };
}

/** What the document says about events: an operation for each kind, and the components that they refer to. */
export function webhookSection() {
  const each = <T>(make: (kind: EventKind) => [string, T]) => Object.fromEntries(eventKinds.map(make));
  return {
    webhooks: each((kind) => [kind, { post: deliveryOperation(kind) }]),
    schemas: each((kind) => [`${pascalCase(kind)}Event`, envelopeSchema(kind, eventCatalog[kind])]),
    parameters,
  };
}
