import { CliError, interrupted } from "../kernel/errors.ts";
import type { Globals } from "../kernel/globals.ts";
import { waitCounting } from "../output/wait-counting.ts";
import type { Repeats } from "./network-faults.ts";
import { asNetworkFault, type NetworkFault, networkFailure } from "./network-faults.ts";

/** A request as it goes out. */
export interface Outgoing {
  method: string;
  url: string;
  headers: Readonly<Record<string, string>>;
  body?: string;
  /** Whether it may be sent again when it is not known whether it arrived. */
  repeats: Repeats;
}

/** The response, whatever its status. */
export interface Incoming {
  status: number;
  headers: Readonly<Record<string, string>>;
  text: string;
}

/** Sends a request until it has a response; see `createExchange`. */
export type Exchange = (request: Outgoing) => Promise<Incoming>;

/** What sending is done under: how waits are shown, and what ends them. */
export interface Manner {
  globals: Pick<Globals, "quiet" | "json">;
  signal: AbortSignal;
}

/** Delays between attempts of a request that the network or a gateway lost (ms). */
const DELAYS = [300, 1000, 3000];
/** The time-out of a response with its body (ms). */
const RESPONSE_TIMEOUT_MS = 120_000;
/** Statuses of a proxy whose daemon is temporarily unavailable. */
const gatewayTroubles = [502, 503, 504];

/**
 * Sends requests over HTTP. 429 is waited out as Retry-After says, however often (contract: Limits). A request that
 * cannot have arrived, or that may be repeated, is tried again a few times. Throws CliError:
 * `server_unreachable`, `connection_lost`, `moved`; `interrupted` as soon as the signal aborts a wait.
 */
export function createExchange(manner: Manner): Exchange {
  // Concurrent requests share the limit, so they share the wait.
  let pause: Promise<void> | null = null;
  const wait = (ms: number, why: string) => {
    pause ??= waitCounting(ms, why, manner)
      .catch((error: unknown) => {
        throw manner.signal.aborted ? interrupted() : error;
      })
      .finally(() => {
        pause = null;
      });
    return pause;
  };
  return async (request) => {
    for (let faults = 0; ; ) {
      if (pause !== null) await pause;
      const answer = await once(request);
      if ("status" in answer && answer.status === 429) {
        await wait(retryAfterMs(answer.headers), "Rate limit reached");
        continue;
      }
      const delay = DELAYS[faults++];
      if (delay === undefined || !worthRepeating(request, answer)) return settled(request, answer);
      await wait(delay, `No answer from ${new URL(request.url).host}`);
    }
  };
}

async function once({ method, url, headers, body }: Outgoing): Promise<Incoming | NetworkFault> {
  try {
    const answer = await fetch(url, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
      // A redirect must not carry a secret or a token to another address.
      redirect: "manual",
      signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
    });
    return { status: answer.status, headers: Object.fromEntries(answer.headers), text: await answer.text() };
  } catch (error) {
    const fault = asNetworkFault(error);
    if (fault === null) throw error;
    return fault;
  }
}

function worthRepeating({ repeats }: Outgoing, answer: Incoming | NetworkFault): boolean {
  if ("status" in answer) {
    return gatewayTroubles.includes(answer.status) && repeats !== "unsafe" && !isPaused(answer);
  }
  return !answer.lasting && (answer.arrived === "never" || repeats !== "unsafe");
}

/** Whether the operator paused orders: that does not end within seconds. */
function isPaused({ status, text }: Incoming): boolean {
  return status === 503 && /"type":"[^"]*\/errors\/paused"/.test(text);
}

function settled({ url, headers, repeats }: Outgoing, answer: Incoming | NetworkFault): Incoming {
  if (!("status" in answer)) throw networkFailure(answer, { url, key: headers["idempotency-key"], repeats });
  const to = answer.status >= 300 && answer.status < 400 ? answer.headers.location : undefined;
  if (to === undefined) return answer;
  const moved = URL.parse(to, url)?.origin ?? to;
  throw new CliError("moved", `${new URL(url).origin} sends us on to ${moved}.`, "Name that address instead.");
}

/** Retry-After in milliseconds: seconds or a date (RFC 9110 10.2.3); a minute when it is neither. */
function retryAfterMs(headers: Readonly<Record<string, string>>, now = Date.now()): number {
  const said = headers["retry-after"] ?? "";
  if (/^\d+$/.test(said)) return Math.max(1, Number(said)) * 1000;
  const until = Date.parse(said);
  return Number.isNaN(until) ? 60_000 : Math.max(1000, until - now);
}
