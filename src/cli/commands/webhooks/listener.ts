import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { type Clock, isoTime } from "../../../core/kernel/clock.ts";
import { type SignatureFault, signatureFault } from "../../../core/webhooks/signature.ts";
import { startListening } from "../../../daemon/serve/listen.ts";
import { type ForwardedEvent, forward } from "./forward.ts";

/** One request that the local receiver got, checked. */
export interface ReceivedEvent {
  valid: boolean;
  /** Null: all is right. */
  fault: SignatureFault | "not_json" | null;
  received_at: string;
  event: string | null;
  event_id: string | null;
  timestamp: string | null;
  data: Record<string, unknown> | null;
  /** Left out where nothing is forwarded; null for what is not, because it is invalid. */
  forwarded?: ForwardedEvent | null;
}

const HOST = "127.0.0.1";

interface Listening {
  port: number;
  secret: string;
  clock: Clock;
  /** Valid events are posted there too, and the sender gets the status of the response: 502 where there is none. */
  forwardTo: string | undefined;
}

/** Receives events on loopback as a partner's program would; `receive` gets each, checked. Throws ListenError. */
export async function startListener(
  { port, secret, clock, forwardTo }: Listening,
  receive: (event: ReceivedEvent) => void,
): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer(async (request, response) => {
    try {
      const body = await readBody(request);
      const event = check(body, headersOf(request), secret, clock.now());
      if (!event.valid || forwardTo === undefined) {
        response.writeHead(event.valid ? 200 : 400).end(event.valid ? "ok" : `${event.fault}`);
        receive(forwardTo === undefined ? event : { ...event, forwarded: null });
        return;
      }
      const forwarded = await forward(forwardTo, body, request.headers);
      response.writeHead(forwarded.status ?? 502).end(forwarded.error ?? forwarded.response_body);
      receive({ ...event, forwarded });
    } catch {
      // The sender went away in the middle of it.
      response.destroy();
    }
  });
  await startListening(
    async () => {
      server.listen(port, HOST);
      await once(server, "listening");
    },
    { host: HOST, port, flag: "--port" },
  );
  const address = server.address();
  const bound = typeof address === "object" && address !== null ? address.port : port;
  return {
    url: `http://${HOST}:${bound}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

/** The signature and, while a secret rotates, the one under the next secret. */
function headersOf({ headers }: IncomingMessage): string[] {
  return [headers["x-webhook-signature"], headers["x-webhook-signature-next"]]
    .flat()
    .filter((one) => one !== undefined);
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function check(body: Buffer, headers: string[], secret: string, now: number): ReceivedEvent {
  const envelope = envelopeIn(body);
  const fault = faultOf(body, headers, secret, now) ?? (envelope === null ? "not_json" : null);
  const text = (name: string) => (typeof envelope?.[name] === "string" ? envelope[name] : null);
  const data = envelope?.data;
  return {
    valid: fault === null,
    fault,
    received_at: isoTime(now),
    event: text("event"),
    event_id: text("event_id"),
    timestamp: text("timestamp"),
    data: isRecord(data) ? data : null,
  };
}

function faultOf(body: Buffer, headers: string[], secret: string, now: number): SignatureFault | null {
  const faults = headers.map((header) => signatureFault({ secret, header, body }, now));
  return faults.includes(null) ? null : (faults[0] ?? "header_form");
}

function envelopeIn(body: Buffer): Record<string, unknown> | null {
  try {
    const parsed: unknown = JSON.parse(body.toString("utf8"));
    return isRecord(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
