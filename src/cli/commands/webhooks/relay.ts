import { setTimeout as sleep } from "node:timers/promises";
import { type Clock, isoTime } from "../../../core/kernel/clock.ts";
import { signedHeaders } from "../../../daemon/gateways/signed-headers.ts";
import type { FeedEvent } from "../../client/answers.ts";
import type { Api } from "../../client/api.ts";
import { cursorWithin, type FeedPart, feedStart, followFeed, isPassing } from "../../client/feed.ts";
import { forward } from "./forward.ts";
import type { ReceivedEvent } from "./listener.ts";

/** How events of the feed are passed on. */
interface Relay {
  /** Each event is posted there once, whatever the answer. */
  forwardTo: string;
  secret: string;
  clock: Clock;
  /** The cursor to begin behind; left out: that of this moment. */
  after: string | undefined;
  /** Ends it: an event that is being posted is finished first, of which `finishing` is called. */
  ended: AbortSignal;
  finishing(): void;
  /** Called once the place in the feed is known: every later event is passed on. */
  ready(): void;
  /** Called with each event that was posted, before the next one is. */
  passedOn(event: ReceivedEvent): void;
  /** Called once for each time that the server is away, with the reason. */
  away(reason: string): void;
}

/** Wait before the next request while the server is away (ms); the client has repeated it for seconds by then. */
const AWAY_MS = 1_000;

/**
 * Follows the feed and posts each event, signed and in the form of a delivery. While the server is away it waits, and
 * goes on with the cursor that it has: no event is lost or posted twice by that. Once `ended` is aborted, it resolves
 * with the cursor behind the last event that was posted. Throws CliError for a refusal, and for a server that did not
 * answer the first time.
 */
export async function relayFeed(api: Api, relay: Relay): Promise<string> {
  const { ended } = relay;
  let cursor = await feedStart(api, relay.after);
  relay.ready();
  let isAway = false;
  const recover = async (error: unknown) => {
    if (!isPassing(error)) throw error;
    if (!isAway) relay.away(error.message);
    isAway = true;
    await sleep(AWAY_MS);
  };
  const parts = followFeed(api, { after: cursor }, recover);
  const end = new Promise<null>((resolve) => ended.addEventListener("abort", () => resolve(null), { once: true }));
  while (!ended.aborted) {
    // A request that waits is left alone: nothing was read by it.
    const part = await Promise.race([parts.next(), end]);
    if (part === null) break;
    isAway = false;
    cursor = (await passPartOn(api, relay, part.value)) ?? cursor;
  }
  return cursor;
}

/** Posts events until it is ended, and answers the cursor behind the last of them. */
async function passPartOn(api: Api, relay: Relay, part: FeedPart): Promise<string | null> {
  for (const [at, event] of part.events.entries()) {
    if (relay.ended.aborted) return cursorWithin(api, part, at);
    relay.ended.addEventListener("abort", relay.finishing);
    relay.passedOn(await passOn(relay, event));
    relay.ended.removeEventListener("abort", relay.finishing);
  }
  return part.next;
}

/** Posts one event as a delivery: the same body and headers, signed now. */
async function passOn({ forwardTo, secret, clock }: Relay, one: FeedEvent): Promise<ReceivedEvent> {
  const { event, event_id, timestamp, data } = one;
  const body = Buffer.from(JSON.stringify({ event, event_id, timestamp, data }));
  const at = clock.now();
  const headers = signedHeaders({ id: event_id, kind: event }, { body, at }, { current: secret, next: null });
  const forwarded = await forward(forwardTo, body, headers);
  return { valid: true, fault: null, received_at: isoTime(at), event, event_id, timestamp, data, forwarded };
}
