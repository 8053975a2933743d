import { once } from "node:events";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { Problem } from "../src/core/kernel/problem.ts";
import type { RoutePlugin } from "../src/daemon/context/fastify.ts";
import { startServer } from "./support/http.ts";

/** Sends bytes on a raw socket and returns the response until the connection closes. */
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
  [
    "two Hosts",
    "GET /healthz HTTP/1.1\r\nHost: x\r\nhost: y\r\nConnection: close\r\n\r\n",
    400,
    "invalid_request",
    /twice/,
  ],
  [
    "two Idempotency-Keys",
    "POST /api/v1/orders HTTP/1.1\r\nHost: x\r\nIdempotency-Key: a\r\nIdempotency-Key: b\r\nConnection: close\r\n\r\n",
    400,
    "invalid_request",
    /twice/,
  ],
  [
    "another Transfer-Encoding",
    "POST /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\nConnection: close\r\n\r\n0\r\n\r\n",
    400,
    "invalid_request",
    /chunked/,
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

test("Host is optional in HTTP/1.0, and 100-continue is answered", async () => {
  const { port } = await startServer();
  expect((await raw(port, "GET /healthz HTTP/1.0\r\n\r\n")).status).toBe(200);
  const expecting =
    "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n";
  expect((await raw(port, `${expecting}{}`)).head).toMatch(/^HTTP\/1\.1 100 Continue/);
});

const closing = "Host: x\r\nConnection: close\r\n";
const json = "Content-Type: application/json\r\n";
const refusals: [string, string, number][] = [
  ["no token", `GET /things HTTP/1.1\r\n${closing}\r\n`, 401],
  ["a bad token", `GET /things HTTP/1.1\r\n${closing}Authorization: Bearer bad\r\n\r\n`, 401],
  ["an unknown path", `GET /nothing HTTP/1.1\r\n${closing}\r\n`, 404],
  ["a wrong method", `PUT /things HTTP/1.1\r\n${closing}\r\n`, 405],
  ["an address that cannot be read", `GET /things/%zz HTTP/1.1\r\n${closing}\r\n`, 400],
  ["a missing Host", "GET /things HTTP/1.1\r\nConnection: close\r\n\r\n", 400],
  ["no HTTP", "hello\r\n\r\n", 400],
  ["a body that is no JSON", `POST /things HTTP/1.1\r\n${closing}${json}Content-Length: 1\r\n\r\n{`, 400],
  ["a body that is too large", `POST /things HTTP/1.1\r\n${closing}${json}Content-Length: 2000000\r\n\r\n`, 413],
  ["a head that is too large", `GET / HTTP/1.1\r\n${closing}X-Big: ${"x".repeat(40_000)}\r\n\r\n`, 431],
  ["a fault", `GET /faulty HTTP/1.1\r\n${closing}\r\n`, 500],
];

const things: RoutePlugin = (app) => {
  app.get("/things", { config: { scope: "read:orders" } }, async () => ({}));
  app.post("/things", { config: { public: true } }, async () => ({}));
  app.get("/faulty", { config: { public: true } }, async () => {
    throw new Error("a fault");
  });
};

test.each(refusals)("the refusal of %s has every security header", async (_what, bytes, status) => {
  for (const publicUrl of ["https://esim.example", "http://esim.example"]) {
    const { port } = await startServer({ routes: [things], publicUrl });
    const reply = await raw(port, bytes);
    expect(reply.status).toBe(status);
    const head = reply.head.toLowerCase();
    expect(head).toContain("\r\ncache-control: no-store");
    expect(head).toContain("\r\nx-content-type-options: nosniff");
    expect(head).toMatch(/\r\nx-request-id: [0-9a-f-]{36}/);
    expect(head.includes("strict-transport-security: max-age=31536000")).toBe(publicUrl.startsWith("https:"));
  }
});

test("a refusal by rate limit has them too", async () => {
  const authenticate = async () => ({
    refusal: new Problem("unauthorized", "No."),
    counted: { clientId: "sk_test_x", ratePerMinute: 1 },
  });
  const { url } = await startServer({ routes: [things], authenticate });
  const call = () => fetch(`${url}/things`, { headers: { authorization: "Bearer x" } });
  await call();
  const refused = await call();
  expect(refused.status).toBe(429);
  const names = ["cache-control", "x-content-type-options", "strict-transport-security", "x-request-id"];
  for (const name of names) expect(refused.headers.get(name), name).not.toBeNull();
});
