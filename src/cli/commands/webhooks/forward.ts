import type { IncomingHttpHeaders } from "node:http";
import { asNetworkFault } from "../../client/network-faults.ts";

/** How the program at the other address answered an event. */
export interface ForwardedEvent {
  url: string;
  /** Null: it could not be reached, or did not answer in time. */
  status: number | null;
  /** Why there is no status. */
  error: string | null;
  latency_ms: number;
  /** The beginning of its response. */
  response_body: string;
}

/** The time-out of an answer (ms). */
const TIMEOUT_MS = 30_000;
/** Characters of a response that are printed. */
const SHOWN = 500;
/** The headers of a delivery; others belong to the connection that it came by. */
const passed = /^(content-type|user-agent|x-webhook-.*)$/;

/** Posts an event to `url` byte for byte, with its headers, signatures included. Never throws for the network. */
export async function forward(url: string, body: Buffer, headers: IncomingHttpHeaders): Promise<ForwardedEvent> {
  const kept = Object.entries(headers).flatMap(([name, value]) =>
    passed.test(name) && value !== undefined ? [[name, String(value)] as const] : [],
  );
  const from = performance.now();
  const ended = (answer: Pick<ForwardedEvent, "status" | "error" | "response_body">) => {
    return { url, ...answer, latency_ms: Math.round(performance.now() - from) };
  };
  try {
    const response = await fetch(url, {
      method: "POST",
      body: new Uint8Array(body),
      headers: kept.map(([name, value]): [string, string] => [name, value]),
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = await response.text();
    return ended({ status: response.status, error: null, response_body: text.slice(0, SHOWN) });
  } catch (error) {
    const fault = asNetworkFault(error);
    if (fault === null) throw error;
    return ended({ status: null, error: fault.what, response_body: "" });
  }
}
