import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** A line to a PostgreSQL server that counts round trips. */
export interface TripCounter {
  /** The address of a database by this line. */
  urlOf(url: string): string;
  /** How many round trips `work` takes on all connections by this line; more where the machine stalls meanwhile. */
  during(work: () => Promise<unknown>): Promise<number>;
}

/**
 * How long (ms) a client must send nothing before it gets what the server sent: then it waits for that, and all that it
 * sent before took one round trip.
 */
const QUIET_MS = 1;

/** Starts one to the server on `port` of loopback; it ends with the test. */
export async function tripCounter(port: number): Promise<TripCounter> {
  const open = new Set<Socket>();
  let trips = 0;
  const listening = createServer({ noDelay: true }, (client) => join(client)).listen(0, "127.0.0.1");
  await once(listening, "listening");
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    listening.close();
  });

  function join(client: Socket): void {
    const server = connect({ host: "127.0.0.1", port, noDelay: true });
    let held: Buffer[] = [];
    let asked = false;
    let timer: NodeJS.Timeout | undefined;
    for (const socket of [client, server]) {
      open.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        clearTimeout(timer);
        open.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    function deliver(): void {
      if (asked) trips += 1;
      asked = false;
      client.write(Buffer.concat(held));
      held = [];
    }
    function wait(): void {
      clearTimeout(timer);
      timer = setTimeout(deliver, QUIET_MS);
    }
    client.on("data", (bytes) => {
      asked = true;
      server.write(bytes);
      if (held.length > 0) wait();
    });
    server.on("data", (bytes: Buffer) => {
      held.push(bytes);
      wait();
    });
  }

  return {
    urlOf(url) {
      const address = new URL(url);
      // It listens on a port.
      address.port = String((listening.address() as AddressInfo).port);
      return address.toString();
    },
    async during(work) {
      const before = trips;
      await work();
      return trips - before;
    },
  };
}
