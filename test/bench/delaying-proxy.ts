/**
 * A proxy before a PostgreSQL server, in a process of its own, that delivers what the server sends only after a delay:
 * as if both were that far apart. Started with the server's port and the delay in ms; sends its own port to its parent.
 *
 * Timers of Node are of whole milliseconds. A thread sleeps until the next bytes are due, which is exact to a tenth.
 */
import { connect, createServer, type Socket } from "node:net";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

/** What the thread and the proxy share. */
interface Alarm {
  /** 1: the thread has a time to wait for. */
  isSet: Int32Array<SharedArrayBuffer>;
  /** By `now`. */
  time: Float64Array<SharedArrayBuffer>;
}

/** The same clock in every thread (ms). */
function now(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1_000_000;
}

function ringForever({ isSet, time }: Alarm): void {
  const asleep = new Int32Array(new SharedArrayBuffer(4));
  for (;;) {
    Atomics.wait(isSet, 0, 0);
    const left = (time[0] ?? 0) - now();
    if (left > 0) Atomics.wait(asleep, 0, 0, left);
    Atomics.store(isSet, 0, 0);
    parentPort?.postMessage(null);
  }
}

function serve(port: number, delayMs: number): void {
  const alarm: Alarm = {
    isSet: new Int32Array(new SharedArrayBuffer(4)),
    time: new Float64Array(new SharedArrayBuffer(8)),
  };
  // All are delayed alike: what came first is due first.
  const waiting: { due: number; client: Socket; bytes: Buffer }[] = [];
  const setAlarm = (due: number) => {
    alarm.time[0] = due;
    Atomics.store(alarm.isSet, 0, 1);
    Atomics.notify(alarm.isSet, 0);
  };
  new Worker(new URL(import.meta.url), { workerData: alarm }).on("message", () => {
    for (let first = waiting[0]; first !== undefined; first = waiting[0]) {
      if (first.due > now()) return setAlarm(first.due);
      waiting.shift();
      first.client.write(first.bytes);
    }
  });
  const listening = createServer({ noDelay: true }, (client) => {
    const server = connect({ host: "127.0.0.1", port, noDelay: true });
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      socket.on("error", () => undefined);
      socket.on("close", () => other.destroy());
    }
    client.on("data", (bytes: Buffer) => server.write(bytes));
    server.on("data", (bytes: Buffer) => {
      const due = now() + delayMs;
      if (waiting.push({ due, client, bytes }) === 1) setAlarm(due);
    });
  });
  listening.listen(0, "127.0.0.1", () => {
    const address = listening.address();
    if (typeof address === "object" && address !== null) process.send?.(address.port);
  });
  process.on("disconnect", () => process.exit());
}

// The main thread gives it an alarm.
if (isMainThread) serve(Number(process.argv[2]), Number(process.argv[3]));
else ringForever(workerData as Alarm);
