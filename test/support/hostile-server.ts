import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { onTestFinished } from "vitest";

/** How a server answers: a beginning, and then the same bytes without end; or the beginning alone. */
export interface Flood {
  head: string;
  endless: string | null;
}

const CHUNKED = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";

/** Responses that never end, each of another kind; `status`: what is known of them when they are cut off. */
export const floods: Record<string, Flood & { status: number | null }> = {
  "Early Hints": { head: "", endless: "HTTP/1.1 103 Early Hints\r\nlink: </a.css>\r\n\r\n", status: null },
  "bare informational responses": { head: "", endless: "HTTP/1.1 199 \r\n\r\n", status: null },
  "a chunk extension": { head: `${CHUNKED}1;`, endless: "a=b;", status: 200 },
  "tiny chunks": { head: CHUNKED, endless: "1\r\nx\r\n", status: 200 },
  "tiny chunks with extensions": { head: CHUNKED, endless: "1;a=b\r\nx\r\n", status: 200 },
  "a head": { head: "HTTP/1.1 200 OK\r\n", endless: "a: b\r\n", status: null },
  trailers: { head: `${CHUNKED}0\r\n`, endless: "a: b\r\n", status: 200 },
  "a body": { head: "HTTP/1.1 500 No\r\n\r\n", endless: "sorry ", status: 500 },
};

/** A server on loopback that answers each request as `answers` sets; it ends with the test. */
export interface HostileServer {
  port: number;
  /** Requests that it has got. */
  requests(): number;
  answers(flood: Flood): void;
}

const BLOCK = 64 * 1024;

/** Starts one; `tls`: behind a certificate. */
export async function startHostileServer(first: Flood, tls?: { cert: Buffer; key: Buffer }): Promise<HostileServer> {
  let flood = first;
  let requests = 0;
  const open = new Set<Socket>();
  const serve = (socket: Socket) => {
    open.add(socket);
    socket.on("close", () => open.delete(socket));
    socket.on("error", () => undefined);
    // The whole of a small request comes at once.
    socket.on("data", () => {
      requests += 1;
      answer(socket, flood);
    });
  };
  const server: Server = tls === undefined ? createServer(serve) : createTlsServer(tls, serve);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    for (const socket of open) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no port");
  return {
    port: address.port,
    requests: () => requests,
    answers(next) {
      flood = next;
    },
  };
}

function answer(socket: Socket, { head, endless }: Flood): void {
  if (head !== "") socket.write(head);
  if (endless === null) return;
  const block = Buffer.from(endless.repeat(Math.ceil(BLOCK / endless.length)));
  const more = () => {
    while (!socket.destroyed && socket.write(block));
  };
  socket.on("drain", more);
  more();
}
