/** Started by `http-load.ts`: sends requests over some connections, and prints how fast responses came as JSON. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { type Load, NEW_ID, type Sent } from "./load.ts";

const HEAD_END = Buffer.from("\r\n\r\n");
const NOTHING = Buffer.alloc(0);
/** What one read of a connection may bring. */
const READ_SIZE = 64 * 1024;

/** Sends as many requests as are to be, each when the response to the one before came on its connection. */
async function send(load: Load): Promise<Sent> {
  const amount = load.amount ?? Number.POSITIVE_INFINITY;
  const next = requestBytes(load);
  const waits: number[] = [];
  const sent: Sent = { seconds: 0, ok: 0, others: 0, p99Ms: 0 };
  let left = amount;
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const conversations = Array.from({ length: Math.min(load.connections, amount) }, () =>
    converse(load, {
      next: () => (left-- > 0 ? next() : null),
      ended(status, ms) {
        if (status >= 200 && status < 300) sent.ok += 1;
        else sent.others += 1;
        // Those without an end have nothing to print.
        if (load.amount !== undefined) waits.push(ms);
        if (sent.ok + sent.others === amount) resolve();
      },
    }),
  );
  const starts = await Promise.all(conversations);
  const began = performance.now();
  for (const start of starts) start();
  await over;
  sent.seconds = (performance.now() - began) / 1000;
  waits.sort((one, other) => one - other);
  sent.p99Ms = waits[Math.ceil(waits.length * 0.99) - 1] ?? 0;
  return sent;
}

interface Turns {
  /** The next request; null: none. */
  next(): Buffer | null;
  ended(status: number, ms: number): void;
}

/** Opens a connection, and returns what begins its requests. Breaks the process when it is closed before their end. */
async function converse({ url, pauseMs = 0 }: Load, { next, ended }: Turns): Promise<() => void> {
  let began = 0;
  const read = responseReader((status) => {
    ended(status, performance.now() - began);
    if (pauseMs > 0) setTimeout(turn, pauseMs);
    else turn();
  });
  const buffer = Buffer.allocUnsafeSlow(READ_SIZE);
  const callback = (length: number) => {
    read(buffer.subarray(0, length));
    return true;
  };
  const { hostname, port } = new URL(url);
  // Without a buffer for each read, and a parser for each response, a request costs a third of what it costs otherwise.
  const socket = connect({ host: hostname, port: Number(port), noDelay: true, onread: { buffer, callback } });
  function turn(): void {
    const request = next();
    if (request === null) {
      socket.removeAllListeners("close").destroy();
      return;
    }
    began = performance.now();
    socket.write(request);
  }
  await once(socket, "connect");
  socket.on("close", () => {
    throw new Error("the server closed a connection");
  });
  return turn;
}

/** Calls `ended` with the status of each response that pieces of a connection make up. Keeps no piece. */
function responseReader(ended: (status: number) => void): (piece: Buffer) => void {
  let head: Buffer = NOTHING;
  let status = 0;
  let left = 0;
  return (piece) => {
    if (left > 0) left -= piece.length;
    else {
      const seen = head.length === 0 ? piece : Buffer.concat([head, piece]);
      const end = seen.indexOf(HEAD_END);
      head = end < 0 ? Buffer.from(seen) : NOTHING;
      if (end < 0) return;
      const text = seen.toString("latin1", 0, end);
      status = Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]);
      left = Number(/\r\ncontent-length: *(\d+)/i.exec(text)?.[1]) - (seen.length - end - HEAD_END.length);
      if (!(left >= 0)) throw new Error(`a response whose length is not said: ${text}`);
    }
    if (left < 0) throw new Error("a response is longer than it said");
    if (left === 0) ended(status);
  };
}

/** Makes each next request: the same bytes, or with a new ID in the places that ask for one. */
function requestBytes({ url, method = "GET", headers = {}, body = "" }: Load): () => Buffer {
  const { host, pathname, search } = new URL(url);
  const process = randomBytes(4).toString("hex");
  let made = 0;
  const newId = () => `${process}-${String(made++).padStart(10, "0")}`;
  const length = body === "" ? {} : { "content-length": Buffer.byteLength(body.replaceAll(NEW_ID, newId())) };
  const lines = Object.entries({ host, ...headers, ...length }).map(([name, value]) => `${name}: ${value}`);
  const text = [`${method} ${pathname}${search} HTTP/1.1`, ...lines, "", body].join("\r\n");
  const parts = text.split(NEW_ID);
  const bytes = Buffer.from(text);
  return parts.length === 1 ? () => bytes : () => Buffer.from(parts.join(newId()));
}

// `http-load.ts` passes a load.
console.log(JSON.stringify(await send(JSON.parse(String(process.argv[2])))));
