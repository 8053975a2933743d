import { Type } from "typebox";
import { eventKinds } from "../../core/events/catalog.ts";
import { named, OneOf } from "./common.ts";

const MOMENT = "2026-03-01T09:30:00.000Z";

const EventId = Type.String({
  format: "uuid",
  description: "The same in the feed and at every attempt of a webhook: work on each event once",
  examples: ["019cac0f-2680-7000-8000-27efbdfac0a8"],
});

/** An event as webhooks carry it (contract: Events). */
export const Event = Type.Object(
  {
    event: OneOf(eventKinds, { description: "The kind", examples: ["order.created"] }),
    event_id: EventId,
    timestamp: Type.String({ format: "date-time", description: "When it happened", examples: [MOMENT] }),
    data: Type.Unsafe<Record<string, unknown>>({
      type: "object",
      additionalProperties: true,
      description: "As the webhook of this kind carries it",
      examples: [{ id: "0199a0b1-0000-7000-8000-000000000002", order_number: "ORD-20260302-7KQ2M" }],
    }),
  },
  named("Event"),
);

/** Longest wait for events (s). */
const LONGEST_WAIT = 25;

export const EventQuery = Type.Object({
  after: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 500,
      description:
        "`next_cursor` of the page before, with the same `kind` and `subject_id`; or `now`, for events from this " +
        "moment on. Without it the feed begins with the oldest event that is kept.",
      examples: ["now"],
    }),
  ),
  since: Type.Optional(
    Type.String({
      format: "date-time",
      description: "Begins with the first event of this time or later; not together with `after`",
      examples: [MOMENT],
    }),
  ),
  kind: Type.Optional(OneOf(eventKinds, { description: "Events of this kind only" })),
  subject_id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: "Events about this order, eSIM, activation request or order item only, by its ID",
      examples: ["0199a0b1-0000-7000-8000-000000000002"],
    }),
  ),
  limit: Type.Integer({
    minimum: 1,
    maximum: 100,
    default: 20,
    description: "Most events of a page. A page of large events has fewer, at least one.",
  }),
  wait: Type.Integer({
    minimum: 0,
    maximum: LONGEST_WAIT,
    default: 0,
    description: "Seconds to wait for an event where there is none yet",
  }),
});

export const EventPage = Type.Object(
  {
    data: Type.Array(Event),
    pagination: Type.Object(
      {
        has_more: Type.Boolean({ description: "More events follow already", examples: [false] }),
        next_cursor: Type.String({ description: "The next `after`, on the last page too", examples: ["WyJSUWJ3…"] }),
        count: Type.Integer({ description: "Events on this page", examples: [1] }),
      },
      named("FeedPagination"),
    ),
  },
  named("EventPage"),
);

export const EventParams = Type.Object({ id: EventId });
