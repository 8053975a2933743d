import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Store } from "../../core/store/store.ts";
import type { Authenticate, DaemonContext } from "../context/context.ts";
import type { App, StillHolds } from "../context/fastify.ts";
import { type Kept, keptForEpoch } from "../plugins/kept-for-epoch.ts";
import { type RateLimits, showUsage, usageHeaders } from "../plugins/rate-limits.ts";
import { type Records, recordAlike, requestId } from "../plugins/request-log.ts";

/** A response, and the request that it was made for. */
interface Sent {
  /** What was committed when it was found to hold last (`Store.state`). */
  state: number;
  /** Whether it holds after a commit; null: any commit ends it. */
  stillHolds: StillHolds | null;
  /** The last of these questions: all who ask in one state share its answer. */
  asked?: { state: number; holds: Promise<boolean> };
  /** Of HTTP, and the names and values of the request's head, as they came. */
  version: string;
  head: readonly string[];
  /** The other end of the connection, and the client's address by it and the head. */
  peer: string | undefined;
  ip: string;
  route: string;
  status: number;
  /** Names and values of its headers, without `OWN`. */
  headers: readonly string[];
  /** One that outlives commits is a text of a character a byte, which is sent in one piece with the head (0084). */
  body: Buffer | string | undefined;
  /** Logs and counts it, once it was sent again: its caller is the same for as long as it holds. */
  recordOne?: ReturnType<typeof recordAlike>;
}

/** Sends responses again, before anything else looks at the request. */
export interface SentAgain {
  /** Goes before the handler of all requests. */
  before(handler: RequestListener): RequestListener;
  /** Keeps the responses of routes with `config.again`; to be called once all that changes responses is registered. */
  keep(app: App): void;
}

interface Parts {
  authenticate: Authenticate;
  limits: RateLimits;
  records: Records;
}

/** What is kept, in bytes; what is sent in pieces is not. */
const KEPT_BYTES = 4 * 1024 * 1024;

/** The header by which a caller names a request: it may differ from one to the next. */
const REQUEST_ID = "x-request-id";

/** Headers that each response has of its own; its length is counted. */
const OWN: ReadonlySet<string> = new Set([REQUEST_ID, "content-length", ...usageHeaders]);

/**
 * A response whose request comes once more, with the same head over a connection from the same address, is sent again
 * while nothing was committed, or nothing that it shows: nothing is parsed, read or put together for it. Its caller is
 * authenticated and counted each time, and the request is logged and counted, as any other is.
 */
export function sentAgain(context: DaemonContext, { authenticate, limits, records }: Parts): SentAgain {
  const { store } = context;
  const kept = keptResponses(store);
  let lifecycle: App["lifecycle"] | undefined;

  /** Whether it was sent; else the request is handled as if this was not asked. */
  async function send(found: Sent, request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const from = performance.now();
    const caller = await authenticate(request.headers.authorization, found.ip);
    if ("refusal" in caller || !(await holds(found, await store.state()))) return false;
    const counted = limits.count(caller);
    const usage = counted instanceof Promise ? await counted : counted;
    if (usage?.allowed === false) return false;
    const id = requestId(request.headers[REQUEST_ID], context);
    const headers = [...found.headers, REQUEST_ID, id];
    if (usage !== undefined) showUsage(usage, (name, value) => headers.push(name, String(value)));
    response.writeHead(found.status, headers).end(found.body, "latin1");
    found.recordOne ??= recordAlike(records, { method: "GET", route: found.route, status: found.status, caller });
    found.recordOne({ id, elapsed: performance.now() - from });
    return true;
  }

  return {
    before: (handler) => (request, response) => {
      const found = lifecycle?.draining === false ? kept.find(request) : undefined;
      if (found === undefined) return handler(request, response);
      const handle = () => handler(request, response);
      send(found, request, response).then((sent) => {
        if (!sent) handle();
      }, handle);
    },
    keep(app) {
      ({ lifecycle } = app);
      app.decorateRequest("keepResponse", null);
      app.decorateRequest("stillHolds", null);
      app.addHook("onRoute", (route) => {
        if (route.config?.again !== true || route.method !== "GET") return;
        route.onRequest = [route.onRequest ?? []].flat().concat((request, _reply, done) => {
          kept.expect(request).then(() => done(), done);
        });
        route.onSend = [route.onSend ?? []].flat().concat((request, reply, payload, done) => {
          request.keepResponse?.(reply, payload);
          done(null, payload);
        });
      });
    },
  };
}

/**
 * Whether a response is what its request would get in this state of the database, which was read after the request
 * came. Once a state has been found to change nothing of it, no request asks for that state again.
 */
async function holds(found: Sent, state: number | null): Promise<boolean> {
  if (state === found.state) return true;
  if (state === null || found.stillHolds === null) return false;
  if (found.asked?.state !== state) found.asked = { state, holds: found.stillHolds() };
  if (!(await found.asked.holds)) return false;
  found.state = state;
  return true;
}

/**
 * Responses to be sent again, those of one epoch: what shows an erased person goes with it. Those that any commit ends
 * are kept from the second of a state on.
 */
function keptResponses(store: Store) {
  // Of an entry also its two heads, in which the token is the longest text.
  const sizeOf = ({ body, head }: Sent) => (body?.length ?? 0) + 2 * head.join().length + 1_000;
  const ofEpoch = keptForEpoch<Sent>(store, { bytes: KEPT_BYTES, sizeOf });
  /** Undefined: none is kept. */
  let latest: Kept<Sent> | undefined;
  /** Of the last response. */
  let current: number | null = null;
  /** Whether the database has states: until it was asked, it may. */
  let hasStates = true;
  return {
    find(request: IncomingMessage): Sent | undefined {
      const found = request.method === "GET" ? latest?.get(nameOf(request)) : undefined;
      return found !== undefined && isSame(request, found) ? found : undefined;
    },
    /** Before anything is read for the response of a request: it is kept for what is committed now. */
    async expect(request: FastifyRequest): Promise<void> {
      const state = hasStates ? await store.state() : null;
      hasStates = state !== null;
      if (state === null) return;
      const responses = await ofEpoch();
      latest = responses;
      request.keepResponse = (reply, payload) => {
        // While orders are written without pause, each state is the first of its own.
        const isFirst = state !== current;
        current = state;
        if (isFirst && request.stillHolds === null) return;
        const sent = sentIn(state, request, { reply, payload });
        if (sent !== null) responses.set(nameOf(request.raw), sent);
      };
    },
  };
}

type Made = { reply: FastifyReply; payload: unknown };

/** A response to a request that can be sent again; null: it cannot. */
function sentIn(state: number, request: FastifyRequest, { reply, payload }: Made): Sent | null {
  const { raw, ip, routeOptions, stillHolds } = request;
  if (!isWhole(reply, payload)) return null;
  if (raw.headers["content-length"] !== undefined || raw.headers["transfer-encoding"] !== undefined) return null;
  const { httpVersion: version, rawHeaders: head, socket } = raw;
  const body = stillHolds === null ? (payload ?? undefined) : payload?.toString("latin1");
  const asked = { version, head, peer: socket.remoteAddress, ip, route: routeOptions.url ?? "" };
  return { state, stillHolds, ...asked, status: reply.statusCode, headers: headersOf(reply, body), body };
}

/** Whether all of a response is at hand. */
function isWhole({ statusCode }: FastifyReply, payload: unknown): payload is Buffer | null | undefined {
  return (statusCode === 200 && Buffer.isBuffer(payload)) || (statusCode === 304 && (payload ?? null) === null);
}

function headersOf(reply: FastifyReply, body: Sent["body"]): string[] {
  const all = Object.entries(reply.getHeaders()).filter(([name]) => !OWN.has(name));
  const headers = all.flatMap(([name, value]) => [name, String(value)]);
  return body === undefined ? headers : [...headers, "content-length", String(body.length)];
}

/** Of a token the last characters of its signature: enough to find it by. */
function nameOf({ url, headers }: IncomingMessage): string {
  return `${url} ${headers.authorization?.slice(-20)}`;
}

/** Whether a request is the one that a response was made for, by all that a response may depend on. */
function isSame({ httpVersion, rawHeaders, socket }: IncomingMessage, { version, head, peer }: Sent): boolean {
  if (httpVersion !== version || socket.remoteAddress !== peer || rawHeaders.length !== head.length) return false;
  return rawHeaders.every((part, index) => part === head[index] || isRequestId(rawHeaders, index));
}

/** Whether this part of a head is the value of X-Request-Id. */
function isRequestId(head: readonly string[], index: number): boolean {
  return index % 2 === 1 && head[index - 1]?.toLowerCase() === REQUEST_ID;
}
