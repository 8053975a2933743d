import type { Socket } from "node:net";
import { type buildConnector, Client } from "undici";

/** Connections that are open before anything is sent, and kept alive between two exchanges. */
export interface Connections {
  /** Takes a connection to the origin that is open and idle; null: there is none. */
  idle(origin: string): Client | null;
  /** Opens a new one. Throws why there is none, or once `signal` aborts. */
  open(url: URL, signal: AbortSignal): Promise<Client>;
  /** Keeps a connection for the next exchange, if it is still open. */
  give(client: Client): void;
  close(): Promise<void>;
}

const KEEP_ALIVE = { keepAliveTimeout: 30_000, keepAliveMaxTimeout: 60_000 };
/** An exchange has a limit of its own. */
const NO_LIMITS = { headersTimeout: 0, bodyTimeout: 0 };

/** Connections that `connect` opens; each serves one exchange at a time. */
export function createConnections(connect: buildConnector.connector): Connections {
  const idle = new Map<string, Set<Client>>();
  const open = new Map<Client, { origin: string; socket: Socket }>();

  function forget(client: Client): void {
    const known = open.get(client);
    if (known === undefined) return;
    open.delete(client);
    const kept = idle.get(known.origin);
    kept?.delete(client);
    if (kept?.size === 0) idle.delete(known.origin);
    client.destroy().catch(() => undefined);
    // A client that was never used does not have it yet.
    known.socket.destroy();
  }

  return {
    idle(origin) {
      const kept = idle.get(origin);
      const [client] = kept ?? [];
      if (client === undefined) return null;
      kept?.delete(client);
      return client;
    },
    async open(url, signal) {
      const socket = await opened(connect, url, signal);
      const client = clientOver(url.origin, socket);
      client.on("disconnect", () => forget(client));
      open.set(client, { origin: url.origin, socket });
      return client;
    },
    give(client) {
      const known = open.get(client);
      if (known === undefined) return;
      // The response ended it: the client reports that only in a later turn of the event loop.
      if (known.socket.destroyed) return forget(client);
      const kept = idle.get(known.origin);
      if (kept === undefined) idle.set(known.origin, new Set([client]));
      else kept.add(client);
    },
    async close() {
      for (const client of [...open.keys()]) forget(client);
    },
  };
}

/** A client of this one connection: it never opens another. */
function clientOver(origin: string, socket: Socket): Client {
  let given = false;
  return new Client(origin, {
    ...KEEP_ALIVE,
    ...NO_LIMITS,
    connect(_options, callback) {
      const again = given;
      given = true;
      // Not at once: the client is in the middle of looking what it can send, and would not look again.
      queueMicrotask(() => (again ? callback(new Error("the connection was closed"), null) : callback(null, socket)));
    },
  });
}

function opened(connect: buildConnector.connector, url: URL, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const giveUp = () => reject(signal.reason);
    signal.addEventListener("abort", giveUp, { once: true });
    const hostname = url.hostname.replace(/^\[(.*)\]$/, "$1");
    connect({ hostname, host: url.host, protocol: url.protocol, port: url.port }, (...[error, socket]) => {
      signal.removeEventListener("abort", giveUp);
      if (error !== null) reject(error);
      // It came after it was given up.
      else if (signal.aborted) socket.destroy();
      else resolve(socket);
    });
  });
}
