import { setTimeout as sleep } from "node:timers/promises";
import { type Clock, isoTime } from "../../../core/kernel/clock.ts";
import { signedHeaders } from "../../../daemon/gateways/signed-headers.ts";
import type { FeedEvent } from "../../client/answers.ts";
import type { Api } from "../../client/api.ts";
import { feedEnd, followFeed, isPassing } from "../../client/feed.ts";
import { forward } from "./forward.ts";
import type { ReceivedEvent } from "./listener.ts";

/** How events of the feed are passed on. */
interface Relay {
  /** Each event is posted there once, whatever the answer. */
  forwardTo: string;
  secret: string;
  clock: Clock;
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
 * Follows the feed from now on and posts each event, signed and in the form of a delivery. While the server is away it
 * waits, and goes on with the cursor that it has: no event is lost or posted twice by that. It ends by what it throws
 * alone: CliError for a refusal, and for a server that did not answer the first time.
 */
export async function relayFeed(api: Api, relay: Relay): Promise<never> {
  const after = await feedEnd(api);
  relay.ready();
  let isAway = false;
  const recover = async (error: unknown) => {
    if (!isPassing(error)) throw error;
    if (!isAway) relay.away(error.message);
    isAway = true;
    await sleep(AWAY_MS);
  };
  for await (const events of followFeed(api, { after }, recover)) {
    isAway = false;
    for (const event of events) relay.passedOn(await passOn(relay, event));
  }
  throw new Error("the feed does not end");
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
