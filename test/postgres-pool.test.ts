import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { openPool } from "../src/core/store/postgres/pool.ts";

/** Takes connections and says nothing. */
async function silentServer() {
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket)).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  // A server that listens on a port has such an address.
  const { port } = server.address() as AddressInfo;
  return { server, url: `postgres://someone@127.0.0.1:${port}/esimctl` };
}

test("closing ends connections that a silent server has not accepted yet, and waits for none", async () => {
  const { server, url } = await silentServer();
  const pool = openPool({ url, max: 2 });
  const lending = pool.lend();
  const closed = { reason: "unreachable", message: expect.stringContaining("the pool is closed") };
  const failed = expect(lending).rejects.toMatchObject(closed);
  await once(server, "connection");
  await pool.close();
  await failed;
});
