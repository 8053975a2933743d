import type { Socket } from "node:net";
import { buildConnector } from "undici";

/** A connection that is open. */
export interface Wire {
  /** What is written and read: behind TLS where there is any. */
  socket: Socket;
  encrypted: boolean;
  /** Bytes that came over it from its first one on, those of TLS itself included. */
  received(): number;
}

/** Opens a connection to the URL's origin. Throws why there is none, or once `signal` aborts. */
export type OpenWire = (url: URL, signal: AbortSignal) => Promise<Wire>;

/** How often bytes are counted that come while nothing is read, as those of TLS itself do (ms). */
export const COUNT_MS = 50;

/**
 * Opens connections by `connect`, with TLS over them for https. TLS is a second step, since only the connection below
 * it counts all bytes. One that brings more than `mostBytes` before it is open is closed.
 */
export function wires(
  connect: buildConnector.connector,
  { timeoutMs, mostBytes }: { timeoutMs: number; mostBytes: number },
): OpenWire {
  const secure = buildConnector({ timeout: timeoutMs, allowH2: false });
  return async (url, signal) => {
    const encrypted = url.protocol === "https:";
    const { port = encrypted ? "443" : "80" } = url.port === "" ? {} : url;
    const target = { hostname: url.hostname.replace(/^\[(.*)\]$/, "$1"), host: url.host, port };
    const below = await opened(connect, { ...target, protocol: "http:" }, signal);
    const received = () => below.bytesRead;
    if (!encrypted) return { socket: below, encrypted, received };
    const counting = setInterval(() => received() > mostBytes && below.destroy(new TooLong(mostBytes)), COUNT_MS);
    try {
      const socket = await opened(secure, { ...target, protocol: "https:", httpSocket: below }, signal);
      return { socket, encrypted, received };
    } catch (error) {
      below.destroy();
      throw error;
    } finally {
      clearInterval(counting);
    }
  };
}

/** A receiver that sent more than is read. */
class TooLong extends Error {
  constructor(mostBytes: number) {
    super(cutWords(mostBytes));
    this.name = "TooLong";
  }
}

/** Why a response was cut off, for people. */
export function cutWords(mostBytes: number): string {
  return `the response was cut off after ${mostBytes / 1024} KiB`;
}

function opened(
  connect: buildConnector.connector,
  options: buildConnector.Options,
  signal: AbortSignal,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const giveUp = () => reject(signal.reason);
    signal.addEventListener("abort", giveUp, { once: true });
    connect(options, (...[error, socket]) => {
      signal.removeEventListener("abort", giveUp);
      if (error !== null) reject(error);
      // It came after it was given up.
      else if (signal.aborted) socket.destroy();
      else resolve(socket);
    });
  });
}
