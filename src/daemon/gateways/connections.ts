import type { Socket } from "node:net";
import { type buildConnector, Client } from "undici";

/** Connections that are open before anything is sent, and kept alive between two exchanges. */
export interface Connections {
  /** An idle connection to the origin of `url`, or a new one. Throws why there is none, or once `signal` aborts. */
  take(url: URL, signal: AbortSignal): Promise<Client>;
  /** Keeps a connection for the next exchange, if it is still open. */
  give(client: Client): void;
  close(): Promise<void>;
}

const KEEP_ALIVE = { keepAliveTimeout: 30_000, keepAliveMaxTimeout: 60_000 };

/** Connections that `connect` opens; each serves one exchange at a time. */
export function createConnections(connect: buildConnector.connector): Connections {
  const idle = new Map<string, Set<Client>>();
  const open = new Map<Client, string>();

  function forget(client: Client): void {
    const origin = open.get(client);
    if (origin === undefined) return;
    open.delete(client);
    const kept = idle.get(origin);
    kept?.delete(client);
    if (kept?.size === 0) idle.delete(origin);
    void client.destroy();
  }

  function idleOf(origin: string): Client | undefined {
    const kept = idle.get(origin);
    const [client] = kept ?? [];
    if (client !== undefined) kept?.delete(client);
    return client;
  }

  return {
    async take(url, signal) {
      const kept = idleOf(url.origin);
      if (kept !== undefined) return kept;
      const client = clientOver(url.origin, await opened(connect, url, signal));
      client.on("disconnect", () => forget(client));
      open.set(client, url.origin);
      return client;
    },
    give(client) {
      const origin = open.get(client);
      if (origin === undefined) return;
      idle.set(origin, (idle.get(origin) ?? new Set()).add(client));
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
