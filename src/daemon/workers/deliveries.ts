import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import type { WebhookId } from "../../core/kernel/brand.ts";
import type { Clock } from "../../core/kernel/clock.ts";
import { ownBytes } from "../../core/kernel/own-bytes.ts";
import { queueName } from "../../core/platform/due-keys.ts";
import { maySend } from "../../core/platform/lease.ts";
import { isUnavailable } from "../../core/store/problems.ts";
import type { Row } from "../../core/store/schema/tables.ts";
import type { Store } from "../../core/store/store.ts";
import type { Vault } from "../../core/store/vault.ts";
import {
  type ClaimedDelivery,
  type ClaimedEvent,
  type DueEndpoint,
  dueEndpoints,
  recordAndClaim,
  releaseDeliveries,
} from "../../core/webhooks/due.ts";
import { envelopeOf } from "../../core/webhooks/envelope.ts";
import { applyOutcomes, type Outcome } from "../../core/webhooks/outcome.ts";
import { CUTS_TO_WAIT, cutDelay } from "../../core/webhooks/retries.ts";
import { openingOnce, signingSecrets } from "../../core/webhooks/signature.ts";
import type { WebhookRow } from "../../core/webhooks/webhook.ts";
import { joinedEvent } from "../feed/joined-event.ts";
import { signedHeaders } from "../gateways/signed-headers.ts";
import type { WebhookResponse, WebhookSender } from "../gateways/webhook-sender.ts";
import type { Worker } from "./loop.ts";
import { createPool, type Pool, type PoolWork, startPool } from "./pool.ts";
import type { Bounds, Lane, Room } from "./share.ts";

/** What the delivery worker needs. */
export interface DeliveriesDependencies extends Omit<DeliverDependencies, "holdBody" | "vaultFor" | "limit" | "cuts"> {
  /** The public address of the daemon: links in events begin with it. */
  publicUrl: string;
  log: Pick<Logger, "error">;
  /** Whether the clock is too far off to take leases; left out: it never is. */
  isClockOff?: (() => boolean) | undefined;
}

/**
 * Attempts that are claimed at the same time: in all, of a partner's endpoints in one environment, of one endpoint. An
 * endpoint has three times as many as it gets requests: a slow one gets the last of them while their lease is held.
 */
const BOUNDS: Bounds = { overall: 768, production: 672, sandbox: 384, perKey: 320, perLane: 96 };
/** Outcomes that are recorded together. */
const RECORDED_TOGETHER = 64;
/** Requests that one endpoint gets at a time. */
const REQUESTS_PER_ENDPOINT = 32;
/** Claimed of an endpoint whose last attempt failed. */
const PER_FAILING_ENDPOINT = 2;

type EndpointLane = Lane & Pick<DueEndpoint, "id">;

/** Sends events to endpoints: partners share the room first, then each partner's endpoints. */
export function createDeliveries(deps: DeliveriesDependencies): Pool {
  const { store, log } = deps;
  const making = {
    ...deps,
    holdBody: shareBodies(store, deps.publicUrl),
    vaultFor: vaultOfClaim(store),
    limit: limitPerKey(REQUESTS_PER_ENDPOINT),
    cuts: cutEndpoints(),
  };
  const work: PoolWork<EndpointLane, ClaimedDelivery, Outcome> = {
    name: "deliveries",
    bounds: BOUNDS,
    enough: RECORDED_TOGETHER,
    async due(full) {
      // As many as can be in flight: one that can take more is among them.
      const { due, waitMs } = await store.read(dueEndpoints, { full, limit: BOUNDS.perKey });
      return { lanes: due.map(laneOf), waitMs };
    },
    async turn(rooms, outcomes) {
      const lanes = new Map(rooms.map(({ lane }) => [lane.id, lane]));
      const claimed = await turnOrSalvage(deps, outcomes, rooms);
      return claimed.flatMap((delivery) => {
        const lane = lanes.get(delivery.endpoint.id);
        return lane === undefined ? [] : [{ lane, work: delivery }];
      });
    },
    work: (claimed, stopping) => deliver(making, claimed, stopping),
    release: (claimed) =>
      store.write(
        releaseDeliveries,
        claimed.map(({ lease, endpoint }) => ({ lease, endpointId: endpoint.id })),
      ),
  };
  return createPool(work, log);
}

function laneOf(endpoint: DueEndpoint): EndpointLane {
  const { id, failing } = endpoint;
  const perLane = failing ? PER_FAILING_ENDPOINT : BOUNDS.perLane;
  return { id, key: queueName(endpoint), sandbox: endpoint.environment === "sandbox", perLane };
}

/**
 * One turn. An outcome that cannot be recorded must not take the others with it: then each is recorded alone. Throws
 * while the database is unavailable.
 */
async function turnOrSalvage(deps: DeliveriesDependencies, outcomes: Outcome[], rooms: Room<EndpointLane>[]) {
  const { store, log } = deps;
  try {
    return await store.write(recordAndClaim, {
      outcomes,
      rooms: rooms.map(({ lane, room }) => ({ endpointId: lane.id, room })),
    });
  } catch (error) {
    if (outcomes.length === 0 || isUnavailable(error)) throw error;
    log.error({ err: error }, "webhook outcomes could not be written together");
    for (const outcome of outcomes) {
      await store.write(applyOutcomes, [outcome]).catch((cause: unknown) => {
        log.error({ err: cause, delivery_id: outcome.id }, "a webhook outcome could not be written");
      });
    }
    return [];
  }
}

/** Runs deliveries until it is stopped: then the attempts in flight end by themselves, within their time limit. */
export function startDeliveries(deps: DeliveriesDependencies): Worker {
  const worker = startPool(createDeliveries(deps), deps);
  return {
    wake: worker.wake,
    async stop() {
      await worker.stop();
      await deps.sender.close();
    },
  };
}

/** What an attempt needs. */
interface DeliverDependencies {
  store: Store;
  clock: Clock;
  sender: WebhookSender;
  holdBody: HoldBody;
  vaultFor(endpoint: WebhookRow): Pick<Vault, "open">;
  /** By the ID of the endpoint. */
  limit: LimitPerKey;
  cuts: CutEndpoints;
}

/** The deliveries of a claim share the row of their endpoint: its secrets are opened once for all of them. */
function vaultOfClaim({ vault }: Store): DeliverDependencies["vaultFor"] {
  const opening = new WeakMap<WebhookRow, Pick<Vault, "open">>();
  return (endpoint) => {
    const known = opening.get(endpoint) ?? openingOnce(vault);
    opening.set(endpoint, known);
    return known;
  };
}

/**
 * Makes one attempt of a delivery that was claimed; null when none was made, since `stopping` was aborted or the lease
 * ended before anything was sent (contract: Events). The body is read and signed once there is a connection, so that
 * endpoints that cannot be reached cost neither.
 */
async function deliver(
  deps: DeliverDependencies,
  claimed: ClaimedDelivery,
  stopping: AbortSignal,
): Promise<Outcome | null> {
  const { store, clock, sender, limit } = deps;
  const { lease, attempts, endpoint, event } = claimed;
  const held = deps.holdBody(event);
  let at = clock.now();
  const signed = (body: Buffer) => {
    at = clock.now();
    // Suspended, or too long without a connection: another node may make the attempt by now.
    if (!maySend(lease, at)) return null;
    const secrets = signingSecrets(deps.vaultFor(endpoint), endpoint, at);
    return { body, headers: signedHeaders(event, { body, at }, secrets) };
  };
  const compose = () => {
    const body = held.read();
    return body instanceof Promise ? body.then(signed) : signed(body);
  };
  const turn = limit.enter(endpoint.id);
  if (turn !== null) await turn;
  // Claimed before its endpoint was known to send too much: it waits as the others do.
  const waitMs = deps.cuts.waitOf(endpoint, clock.now());
  let answer: WebhookResponse | null = null;
  try {
    if (waitMs === 0) answer = await sender.post({ url: endpoint.url, stopping, compose });
  } finally {
    limit.leave(endpoint.id);
    held.release();
  }
  if (answer === null) {
    await store.write(releaseDeliveries, [{ lease, endpointId: endpoint.id, waitMs }]);
    return null;
  }
  deps.cuts.note(endpoint.id, answer, clock.now());
  const about = { id: lease.id, endpointId: endpoint.id, event: event.kind, eventId: event.id };
  const { statusCode, error, body, cut, latencyMs } = answer;
  return { ...about, leaseNo: lease.no, attempts, at, statusCode, error, body, cut, latencyMs };
}

/** How much work of each key runs at a time; the rest of that key waits in its order. */
interface LimitPerKey {
  /** Null: it may begin. Else it may once this resolves. */
  enter(key: string): Promise<void> | null;
  /** Ends what has begun. */
  leave(key: string): void;
}

/** Lets at most `most` works of each key run at a time. */
function limitPerKey(most: number): LimitPerKey {
  const keys = new Map<string, { running: number; waiting: (() => void)[] }>();
  return {
    enter(key) {
      const used = keys.get(key) ?? { running: 0, waiting: [] };
      if (used.running < most) {
        used.running += 1;
        keys.set(key, used);
        return null;
      }
      return new Promise((resolve) => void used.waiting.push(resolve));
    },
    leave(key) {
      const used = keys.get(key);
      if (used === undefined) return;
      const next = used.waiting.shift();
      // The next one takes its place.
      if (next !== undefined) return next();
      used.running -= 1;
      if (used.running === 0) keys.delete(key);
    },
  };
}

/** Which endpoints have just sent too much, until that is recorded and claims go by it. */
interface CutEndpoints {
  /** Takes an attempt that ended at `now` (ms) into account. */
  note(id: WebhookId, attempt: Pick<WebhookResponse, "cut">, now: number): void;
  /** How long an attempt waits (ms) that was claimed when its endpoint was as `row` says; 0: it may be made. */
  waitOf(row: Pick<WebhookRow, "id" | "cut_attempts">, now: number): number;
}

const WAIT_MS = cutDelay(CUTS_TO_WAIT) ?? 0;
const MOST_KNOWN = 1_000;

/** Counts the attempts of each endpoint that were cut off in a row. */
function cutEndpoints(): CutEndpoints {
  const known = new LRUCache<WebhookId, { cuts: number; at: number }>({ max: MOST_KNOWN });
  return {
    note(id, { cut }, now) {
      if (cut) known.set(id, { cuts: (known.get(id)?.cuts ?? 0) + 1, at: now });
      else known.delete(id);
    },
    waitOf({ id, cut_attempts }, now) {
      const last = known.get(id);
      // Else it was claimed in spite of that: its wait is over.
      if (last === undefined || last.cuts < CUTS_TO_WAIT || cut_attempts >= CUTS_TO_WAIT) return 0;
      return now - last.at < WAIT_MS ? WAIT_MS : 0;
    },
  };
}

/** The body of an event that an attempt may need. */
interface HeldBody {
  /** The body, made by the first attempt that asks for it; at once where nothing has to be read for it. */
  read(): Buffer | Promise<Buffer>;
  release(): void;
}

/** Holds the body of an event for one attempt, until it is released. */
type HoldBody = (event: ClaimedEvent) => HeldBody;

/** Bodies of events, each made once for all attempts that hold it, to however many endpoints; dropped with the last. */
export function shareBodies(store: Store, publicUrl: string): HoldBody {
  const shared = new Map<string, { holders: number; body: Promise<Buffer> | Buffer | null }>();

  async function joinedBody(event: ClaimedEvent): Promise<Buffer> {
    // The text of a payload, as it was kept.
    const data = JSON.parse(event.data) as Row<"events">["data"];
    const joined = await joinedEvent(store, { ...event, data }, publicUrl);
    return ownBytes(envelopeOf({ ...event, data: JSON.stringify(joined.data) }));
  }

  return (event) => {
    const entry = shared.get(event.id) ?? { holders: 0, body: null };
    shared.set(event.id, entry);
    entry.holders += 1;
    return {
      read() {
        if (entry.body !== null) return entry.body;
        if (event.expands === null) entry.body = ownBytes(envelopeOf(event));
        else {
          entry.body = joinedBody(event).catch((error: unknown) => {
            // The next attempt makes it again.
            entry.body = null;
            throw error;
          });
        }
        return entry.body;
      },
      release() {
        entry.holders -= 1;
        if (entry.holders === 0) shared.delete(event.id);
      },
    };
  };
}
