import type { Client } from "undici";

/** What is sent: made once there is a connection. */
export interface WebhookMessage {
  headers: Record<string, string>;
  body: Buffer;
}

/** How long something took (ms), and what came of it: a value, or null and why. */
export type Timed<T> = { ms: number } & ({ value: T; late: false } | { value: null; late: boolean; error: unknown });

/** A response: its status, and the beginning of its body as text. */
export interface Exchanged {
  statusCode: number;
  body: string;
}

/** Read of a body at most; what follows is cut off with its connection. */
const READ_CAP = 64 * 1024;
/** Kept of it. */
const KEPT_CAP = 2 * 1024;

/**
 * Posts a message over a connection that is idle, and reads the beginning of the response; follows no redirect. Once
 * the status has come, a body that breaks off or is late changes nothing of it. Takes the parser's own events: a stream
 * for each response costs as much as the exchange.
 */
export function exchange(
  client: Client,
  { path, headers, body }: WebhookMessage & { path: string },
  limitMs: number,
): Promise<Timed<Exchanged>> {
  const began = performance.now();
  const { promise, resolve } = Promise.withResolvers<Timed<Exchanged>>();
  const response = beginningOfBody();
  let statusCode: number | null = null;
  let late = false;

  function end(error: unknown): void {
    clearTimeout(timer);
    const ms = performance.now() - began;
    if (statusCode === null) resolve({ value: null, late, error, ms });
    else resolve({ value: { statusCode, body: response.text() }, late: false, ms });
  }

  function cut(): void {
    // The connection goes with what is under way on it.
    client.destroy().catch(() => undefined);
    end(null);
  }

  const timer = setTimeout(() => {
    late = true;
    cut();
  }, limitMs);
  client.dispatch(
    { path, method: "POST", headers, body },
    {
      onRequestStart: () => undefined,
      onResponseStart(_, status) {
        // Informational ones precede the response.
        if (status >= 200) statusCode = status;
      },
      onResponseData(_, chunk) {
        if (response.add(chunk) > READ_CAP) cut();
      },
      onResponseEnd: () => end(null),
      onResponseError: (_, error) => end(error),
    },
  );
  return promise;
}

/** The beginning of a body that comes in chunks. */
function beginningOfBody() {
  const kept: Buffer[] = [];
  let read = 0;
  return {
    /** Answers how many bytes have come. */
    add(chunk: Buffer): number {
      // A copy: the chunk is part of a larger buffer.
      if (read < KEPT_CAP) kept.push(Buffer.from(chunk.subarray(0, KEPT_CAP - read)));
      read += chunk.length;
      return read;
    },
    text(): string {
      const [first] = kept;
      const whole = kept.length === 1 && first !== undefined ? first : Buffer.concat(kept);
      // NUL is text that PostgreSQL does not store.
      return whole.toString("utf8").replaceAll("\0", "\ufffd");
    },
  };
}
