import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** A line to a PostgreSQL server that keeps COMMITs of writes or loses their responses on request. */
export interface CommitCutter {
  /** The address of a database by this line. */
  urlOf(url: string): string;
  /** Forwards every `nth` COMMIT from now on, and closes its connection in place of the response; 0: none. */
  cut(nth: number): void;
  /** How many it has cut. */
  count(): number;
  /** Keeps the next COMMIT until `letGo`. */
  hold(): void;
  /** Resolves once one is kept. */
  caught(): Promise<void>;
  letGo(): void;
}

/** The simple query COMMIT of the protocol: its type, its length, its text. */
const COMMIT = Buffer.from("Q\0\0\0\x0bCOMMIT\0", "latin1");
/** The response to it. */
const COMMITTED = Buffer.from("C\0\0\0\x0bCOMMIT\0", "latin1");

interface Line {
  port: number;
  nth: number;
  seen: number;
  count: number;
  holding: PromiseWithResolvers<void> | null;
  released: Promise<void>;
  open: Set<Socket>;
}

/** Starts one to the server on `port` of loopback; it ends with the test. */
export async function commitCutter(port: number): Promise<CommitCutter> {
  const line: Line = { port, nth: 0, seen: 0, count: 0, holding: null, released: Promise.resolve(), open: new Set() };
  // Statements that are sent ahead would wait for each other's acknowledgement.
  const listening = createServer({ noDelay: true }, (client) => join(line, client)).listen(0, "127.0.0.1");
  await once(listening, "listening");
  onTestFinished(() => {
    for (const socket of line.open) socket.destroy();
    listening.close();
  });
  // It listens on a port.
  const own = (listening.address() as AddressInfo).port;
  let caught = Promise.resolve();
  let letGo = () => {};
  return {
    urlOf(url) {
      const address = new URL(url);
      address.port = String(own);
      return address.toString();
    },
    cut(nth) {
      line.nth = nth;
      line.seen = 0;
    },
    count: () => line.count,
    hold() {
      const released = Promise.withResolvers<void>();
      line.released = released.promise;
      letGo = released.resolve;
      line.holding = Promise.withResolvers<void>();
      caught = line.holding.promise;
    },
    caught: () => caught,
    letGo: () => letGo(),
  };
}

/** Forwards between a client and the server. */
function join(line: Line, client: Socket): void {
  const server = connect({ host: "127.0.0.1", port: line.port, noDelay: true });
  let isCut = false;
  let isWriting = false;
  for (const socket of [client, server]) {
    line.open.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => {
      line.open.delete(socket);
      client.destroy();
      server.destroy();
    });
  }
  client.on("data", async (bytes: Buffer) => {
    // Reads end by COMMIT too, and hold no lock.
    if (bytes.includes("pg_advisory_xact_lock")) isWriting = true;
    if (isWriting && bytes.includes(COMMIT)) {
      isWriting = false;
      line.holding?.resolve();
      const held = line.holding !== null;
      line.holding = null;
      if (held) await line.released;
      isCut = line.nth > 0 && ++line.seen % line.nth === 0;
      if (isCut) line.count += 1;
    }
    server.write(bytes);
  });
  server.on("data", (bytes: Buffer) => {
    // Responses to statements before it may come by themselves.
    if (!isCut) client.write(bytes);
    else if (bytes.includes(COMMITTED)) client.destroy();
  });
}
