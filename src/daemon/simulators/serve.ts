import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as after } from "node:timers/promises";
import { answerControl } from "./control.ts";
import type { ProviderAnswer, ProviderCallback, SimulatedProvider } from "./provider.ts";
import { type SentCallback, sendCallbacks } from "./send-callbacks.ts";
import { type SteeredCalls, steeredCalls } from "./steered-calls.ts";
import type { Steered } from "./steering.ts";

/** Every provider that can be simulated, by the name of its adapter; a protocol is loaded when it is asked for. */
export const simulators: ReadonlyMap<string, () => Promise<SimulatedProvider>> = new Map([
  ["esimaccess", async () => (await import("./esimaccess.ts")).simulateEsimaccess()],
  ["airalo", async () => (await import("./airalo.ts")).simulateAiralo()],
  ["esimgo", async () => (await import("./esimgo.ts")).simulateEsimgo()],
]);

/** A simulated provider that listens. */
export interface ServedSimulator {
  /** With its base path, as `suppliers set --url` takes it. */
  url: string;
  port: number;
  /** Ends what waits and every connection. */
  close(): Promise<void>;
}

interface Serving {
  /** 0: any free one. */
  port: number;
  /** The clock, in ms. */
  now: () => number;
  /** What is steered from the start. */
  steered?: readonly Steered[];
}

interface Served {
  provider: SimulatedProvider;
  calls: SteeredCalls;
  now: () => number;
  /** Aborted when it closes. */
  ended: AbortSignal;
}

/** What it answers, and when; `lost`: the connection breaks instead. */
interface Answering {
  answer: ProviderAnswer;
  lost: boolean;
  delay_ms: number;
}

const HOST = "127.0.0.1";
const CONTROL = "/_simulate";
/** The longest body, in bytes. */
const LONGEST = 1_048_576;

/**
 * Serves a simulated provider under its base path on loopback, and at `/_simulate` what steers it. Rejects with the
 * system's error where the port cannot be listened on.
 */
export async function serveSimulator(
  provider: SimulatedProvider,
  { port, now, steered = [] }: Serving,
): Promise<ServedSimulator> {
  const calls = steeredCalls();
  for (const one of steered) calls.steer(one);
  const ending = new AbortController();
  const served: Served = { provider, calls, now, ended: ending.signal };
  const server = createServer((request, response) => {
    // Only a connection that broke ends here: there is no one to answer.
    handle(served, request, response).catch(() => response.destroy());
  });
  server.listen(port, HOST);
  await once(server, "listening");
  const address = server.address();
  const bound = typeof address === "object" && address !== null ? address.port : port;
  return {
    url: `http://${HOST}:${bound}${provider.basePath}`,
    port: bound,
    async close() {
      if (!server.listening) return;
      ending.abort();
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

async function handle(served: Served, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await readBody(request);
  if (body === null) {
    const words = { message: "A body has at most 1 MB." };
    write(response, { status: 413, headers: { connection: "close" }, body: words }, served.now());
    return;
  }
  const { answer, lost, delay_ms } = await answerTo(served, request, body).catch(faultOf);
  if (delay_ms > 0) await after(delay_ms, undefined, { signal: served.ended });
  if (lost) request.socket.destroy();
  else write(response, answer, served.now());
  // What waits for its time must not keep what else it sends.
  for (const one of answer.unanswered === undefined ? (answer.callbacks ?? []) : []) void send(served, [one]);
}

async function answerTo(served: Served, request: IncomingMessage, body: Buffer): Promise<Answering> {
  const { provider, calls, now } = served;
  const method = request.method ?? "GET";
  const { pathname, searchParams } = new URL(request.url ?? "/", `http://${HOST}`);
  const below = pathBelow(provider.basePath, pathname);
  const control = pathBelow(CONTROL, below ?? pathname);
  if (control !== null) {
    const controlled = { provider, calls, now: now(), send: (all: readonly ProviderCallback[]) => send(served, all) };
    return atOnce(await answerControl(controlled, { method, path: control, body }));
  }
  if (below === null) {
    return atOnce({ status: 404, body: { message: `It answers below ${provider.basePath}.` } });
  }
  const { steered, delay_ms } = calls.next(provider.callOf({ method, path: below, query: searchParams, body }));
  const { headers } = request;
  const asked = { method, path: below, query: searchParams, headers, body, now: now() };
  if (steered === null) return { answer: await answered(served, { ...asked, steered }), lost: false, delay_ms };
  const { outcome } = steered;
  if (outcome === "lost") return { answer: await answered(served, { ...asked, steered: null }), lost: true, delay_ms };
  return { answer: await answered(served, { ...asked, steered: { ...steered, outcome } }), lost: false, delay_ms };
}

/** The provider's answer, once what it has to wait for was answered itself. */
async function answered(served: Served, asked: Parameters<SimulatedProvider["answer"]>[0]): Promise<ProviderAnswer> {
  const answer = served.provider.answer(asked);
  if (answer.unanswered === undefined) return answer;
  const sent = await send(served, answer.callbacks ?? []);
  return sent.every(({ status }) => status !== null && status >= 200 && status < 300) ? answer : answer.unanswered();
}

function send({ ended }: Served, callbacks: readonly ProviderCallback[]): Promise<SentCallback[]> {
  return sendCallbacks(callbacks, ended);
}

/** A fault of the simulation itself, which must not look like a lost answer. */
function faultOf(error: unknown): Answering {
  return atOnce({ status: 500, body: { message: `The simulation failed: ${String(error)}` } });
}

function atOnce(answer: ProviderAnswer): Answering {
  return { answer, lost: false, delay_ms: 0 };
}

/** The rest of `path` behind `base`: empty, or from a slash on; null: it is elsewhere. */
function pathBelow(base: string, path: string): string | null {
  if (path !== base && !path.startsWith(`${base}/`)) return null;
  return path.slice(base.length);
}

/** Null: it is too long. */
async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    // Read to its end, so that the sender gets the answer.
    bytes += chunk.length;
    if (bytes <= LONGEST) chunks.push(chunk);
  }
  return bytes > LONGEST ? null : Buffer.concat(chunks);
}

/** Dated by its own clock: clients see by it how far apart the clocks are. Text goes as it is, objects as JSON. */
function write(response: ServerResponse, { status, headers, body }: ProviderAnswer, now: number): void {
  const type = body === undefined ? {} : { "content-type": "application/json" };
  const all = { date: new Date(now).toUTCString(), ...type, ...headers };
  response.writeHead(status, all).end(typeof body === "string" ? body : JSON.stringify(body));
}
