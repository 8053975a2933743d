import { once } from "node:events";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { startServer } from "./support/http.ts";

/** Sends bytes on a raw socket; the response as it comes until the connection closes. */
async function raw(port: number, bytes: string): Promise<{ status: number; head: string; body: string }> {
  const socket = connect(port, "127.0.0.1");
  let text = "";
  socket.on("data", (chunk) => {
    text += String(chunk);
  });
  socket.write(bytes);
  await once(socket, "close");
  const [head = "", body = ""] = text.split("\r\n\r\n");
  return { status: Number(head.split(" ")[1]), head, body };
}

test.each([
  ["no Host", "GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n", 400, "invalid_request", /Host/],
  [
    "an unknown Expect",
    "GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: a-miracle\r\nConnection: close\r\n\r\n",
    417,
    "expectation_failed",
    /100-continue/,
  ],
  [
    "headers that are too large",
    `GET /healthz HTTP/1.1\r\nHost: x\r\nX-Big: ${"x".repeat(40_000)}\r\n\r\n`,
    431,
    "invalid_request",
    /larger/,
  ],
  ["no HTTP", "hello\r\n\r\n", 400, "invalid_request", /well-formed/],
])("%s is answered with a problem body and a request id", async (_what, bytes, status, slug, detail) => {
  const { port } = await startServer();
  const reply = await raw(port, bytes);
  expect(reply.status).toBe(status);
  expect(reply.head).toMatch(/content-type: application\/problem\+json/i);
  expect(reply.head).toMatch(/cache-control: no-store/i);
  const problem = JSON.parse(reply.body);
  expect(problem).toMatchObject({
    type: `https://esim.example/docs/errors/${slug}`,
    status,
    detail: expect.stringMatching(detail),
  });
  expect(reply.head.toLowerCase()).toContain(`x-request-id: ${problem.requestId}`);
});

test("Host is not needed in HTTP/1.0, and 100-continue is met", async () => {
  const { port } = await startServer();
  expect((await raw(port, "GET /healthz HTTP/1.0\r\n\r\n")).status).toBe(200);
  const expecting =
    "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n";
  expect((await raw(port, `${expecting}{}`)).head).toMatch(/^HTTP\/1\.1 100 Continue/);
});
