import type { Connection } from "./connections.ts";
import { COUNT_MS } from "./wire.ts";

/** What is sent: made once there is a connection. */
export interface Message {
  headers: Record<string, string>;
  body: Buffer;
}

/** What a response may take. */
export interface ResponseBounds {
  /** From the first byte of the request to the end of the response (ms). */
  limitMs: number;
  /**
   * Bytes that come over the connection at most: of heads, informational responses, and how the body is chunked, as
   * much as of the body. What follows is cut off with the connection.
   */
  mostBytes: number;
  /** Bytes of the body that are kept; the others are dropped as they come. */
  keptBytes: number;
}

/** What came of an exchange. */
export interface Exchanged {
  /** Null: no response. */
  statusCode: number | null;
  /** The beginning of its body. */
  body: Buffer;
  /** Why it is not whole: too long, too late, or broken off as `error` says; null: it is. */
  ended: "cut" | "late" | "broken" | null;
  error: unknown;
  ms: number;
}

/**
 * Posts a message over a connection that is idle and reads the response; follows no redirect, never throws. Takes the
 * parser's own events: a stream for each response costs as much as the exchange.
 */
export function exchange(
  connection: Connection,
  { path, headers, body }: Message & { path: string },
  { limitMs, mostBytes, keptBytes }: ResponseBounds,
): Promise<Exchanged> {
  const began = performance.now();
  const { client } = connection;
  const { promise, resolve } = Promise.withResolvers<Exchanged>();
  const kept = beginningOfBody(keptBytes);
  let statusCode: number | null = null;
  let done = false;

  function end(ended: Exchanged["ended"], error: unknown = null): void {
    if (done) return;
    done = true;
    clearTimeout(timer);
    clearInterval(counting);
    connection.onBytes(null);
    resolve({ statusCode, body: kept.whole(), ended, error, ms: performance.now() - began });
  }

  function cut(why: "cut" | "late"): void {
    // The connection goes with what is under way on it.
    client.destroy().catch(() => undefined);
    end(why);
  }

  const count = () => connection.received() > mostBytes && cut("cut");
  connection.onBytes(count);
  // Messages of TLS itself bring nothing to read.
  const counting = connection.encrypted ? setInterval(count, COUNT_MS) : undefined;
  const timer = setTimeout(() => cut("late"), limitMs);
  client.dispatch(
    { path, method: "POST", headers, body },
    {
      onRequestStart: () => undefined,
      onResponseStart(_, status) {
        // Informational ones precede the response.
        if (status >= 200) statusCode = status;
      },
      onResponseData: (_, chunk) => kept.add(chunk),
      onResponseEnd: () => end(null),
      onResponseError: (_, error) => end("broken", error),
    },
  );
  return promise;
}

/** The beginning of a body that comes in chunks. */
function beginningOfBody(most: number) {
  const chunks: Buffer[] = [];
  let length = 0;
  return {
    add(chunk: Buffer): void {
      if (length >= most) return;
      // A copy: the chunk is part of a larger buffer.
      const part = Buffer.from(chunk.subarray(0, most - length));
      chunks.push(part);
      length += part.length;
    },
    whole(): Buffer {
      const [first] = chunks;
      return chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
    },
  };
}
