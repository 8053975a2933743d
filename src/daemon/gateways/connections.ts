import type { Socket } from "node:net";
import { Client } from "undici";
import type { OpenWire, Wire } from "./wire.ts";

/** A connection that serves one exchange at a time. */
export interface Connection {
  client: Client;
  encrypted: boolean;
  /** Bytes that came since it was opened, or last given back. */
  received(): number;
  /** Has `look` called once what came is read; null: no longer. */
  onBytes(look: (() => void) | null): void;
}

/** Connections that are open before anything is sent, and kept alive between two exchanges. */
export interface Connections {
  /** Takes a connection to the origin that is open and idle; null: there is none. */
  idle(origin: string): Connection | null;
  /** Opens a new one. Throws why there is none, or once `signal` aborts. */
  open(url: URL, signal: AbortSignal): Promise<Connection>;
  /** Keeps a connection for the next exchange, if it is still open. */
  give(connection: Connection): void;
  close(): Promise<void>;
}

const KEEP_ALIVE = { keepAliveTimeout: 30_000, keepAliveMaxTimeout: 60_000 };
/** An exchange has limits of its own; of heads that are too long the client would make an error for each field. */
const NO_LIMITS = { headersTimeout: 0, bodyTimeout: 0, maxHeaderSize: 1024 * 1024 };

/** A connection as it is kept. */
interface Kept extends Connection {
  origin: string;
  socket: Socket;
  /** Counts from here on. */
  begin(): void;
}

/** Connections that `openWire` opens; each serves one exchange at a time. */
export function createConnections(openWire: OpenWire): Connections {
  const idle = new Map<string, Set<Kept>>();
  const open = new Map<Client, Kept>();

  function forget(client: Client): void {
    const known = open.get(client);
    if (known === undefined) return;
    open.delete(client);
    const kept = idle.get(known.origin);
    kept?.delete(known);
    if (kept?.size === 0) idle.delete(known.origin);
    client.destroy().catch(() => undefined);
    // A client that was never used does not have it yet.
    known.socket.destroy();
  }

  return {
    idle(origin) {
      const kept = idle.get(origin);
      const [connection] = kept ?? [];
      if (connection === undefined) return null;
      kept?.delete(connection);
      return connection;
    },
    async open(url, signal) {
      const connection = connectionOver(url.origin, await openWire(url, signal));
      const { client } = connection;
      client.on("disconnect", () => forget(client));
      open.set(client, connection);
      return connection;
    },
    give({ client }) {
      const known = open.get(client);
      if (known === undefined) return;
      // The response ended it: the client reports that only in a later turn of the event loop.
      if (known.socket.destroyed) return forget(client);
      known.begin();
      const kept = idle.get(known.origin);
      if (kept === undefined) idle.set(known.origin, new Set([known]));
      else kept.add(known);
    },
    async close() {
      for (const client of [...open.keys()]) forget(client);
    },
  };
}

function connectionOver(origin: string, { socket, encrypted, received }: Wire): Kept {
  let before = 0;
  let look: (() => void) | null = null;
  // After the client has read all there is: a status that came with too many bytes counts.
  socket.prependListener("readable", () => look !== null && process.nextTick(() => look?.()));
  return {
    client: clientOver(origin, socket),
    origin,
    socket,
    encrypted,
    received: () => received() - before,
    onBytes(next) {
      look = next;
    },
    begin() {
      before = received();
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
