import type { ClaimedDelivery, ClaimedEvent, Turn } from "../../core/webhooks/due.ts";
import type { Outcome } from "../../core/webhooks/outcome.ts";
import type { WebhookRow } from "../../core/webhooks/webhook.ts";

// A record's names are sent and looked up with each record: these are sent as lists, each value at a place of its own.

type SentOutcome = [
  ...about: [Outcome["id"], Outcome["endpointId"], Outcome["event"], eventId: string],
  ...lease: [no: number, attempts: number],
  ...result: [at: number, statusCode: number | null, latencyMs: number, error: string | null, body: string | null],
];

type SentEvent = [
  ...about: [id: string, kind: ClaimedEvent["kind"], subject: string],
  ...content: [occurredAt: number, ClaimedEvent["expands"], data: string],
];

/** The places are those of its endpoint and its event in their lists. */
type SentClaim = [
  ...lease: [id: ClaimedDelivery["lease"]["id"], no: number, until: number],
  ...work: [attempts: number, endpointPlace: number, eventPlace: number],
];

/** What a turn of the delivery worker writes, as it is sent. */
export interface SentTurn extends Omit<Turn, "outcomes"> {
  outcomes: SentOutcome[];
}

/** What it claims, as it is sent: each endpoint and each event once. */
export interface SentClaims {
  endpoints: WebhookRow[];
  events: SentEvent[];
  claims: SentClaim[];
}

/** What a turn writes, as it is sent. */
export function turnToSend({ outcomes, rooms }: Turn): SentTurn {
  return {
    rooms,
    outcomes: outcomes.map((one) => [
      one.id,
      one.endpointId,
      one.event,
      one.eventId,
      one.leaseNo,
      one.attempts,
      one.at,
      one.statusCode,
      one.latencyMs,
      one.error,
      one.body,
    ]),
  };
}

/** What a turn writes, from what was sent. */
export function arrivedTurn({ outcomes, rooms }: SentTurn): Turn {
  return {
    rooms,
    outcomes: outcomes.map(
      ([id, endpointId, event, eventId, leaseNo, attempts, at, statusCode, latencyMs, error, body]) => {
        return { id, endpointId, event, eventId, leaseNo, attempts, at, statusCode, latencyMs, error, body };
      },
    ),
  };
}

/** What a turn has claimed, as it is sent. */
export function claimsToSend(claimed: ClaimedDelivery[]): SentClaims {
  const [endpoints, events] = [places<WebhookRow>(), places<ClaimedEvent>()];
  const claims = claimed.map(({ lease: { id, no, until }, attempts, endpoint, event }): SentClaim => {
    return [id, no, until, attempts, endpoints.of(endpoint), events.of(event)];
  });
  return {
    endpoints: endpoints.all,
    events: events.all.map(({ id, kind, subject_id, occurred_at, expands, data }) => {
      return [id, kind, subject_id, occurred_at, expands, data];
    }),
    claims,
  };
}

/** What a turn has claimed, from what was sent: deliveries of one endpoint, or of one event, share it. */
export function arrivedClaims(sent: SentClaims): ClaimedDelivery[] {
  const events = sent.events.map(([id, kind, subject_id, occurred_at, expands, data]): ClaimedEvent => {
    return { id, kind, subject_id, occurred_at, expands, data };
  });
  return sent.claims.flatMap(([id, no, until, attempts, endpointPlace, eventPlace]) => {
    const [endpoint, event] = [sent.endpoints[endpointPlace], events[eventPlace]];
    return endpoint === undefined || event === undefined
      ? []
      : [{ lease: { id, no, until }, attempts, endpoint, event }];
  });
}

/** Lists each thing once, and answers its place. */
function places<T>() {
  const all: T[] = [];
  const known = new Map<T, number>();
  return {
    all,
    of(thing: T): number {
      const place = known.get(thing) ?? all.push(thing) - 1;
      known.set(thing, place);
      return place;
    },
  };
}
