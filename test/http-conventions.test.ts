import { once } from "node:events";
import { connect } from "node:net";
import { Type } from "typebox";
import { describe, expect, it, onTestFinished } from "vitest";
import { TokenRefusal } from "../src/core/credentials/token-refusal.ts";
import { randomIds } from "../src/core/kernel/ids.ts";
import { Problem } from "../src/core/kernel/problem.ts";
import { openStore } from "../src/core/store/open/open.ts";
import type { RoutePlugin } from "../src/daemon/context/fastify.ts";
import { principalOf } from "../src/daemon/plugins/access.ts";
import { acceptForms } from "../src/daemon/plugins/bodies.ts";
import { drain, ListenError, listen } from "../src/daemon/serve/listen.ts";
import { testClock } from "./support/clock.ts";
import { knownTokens, startServer, testApp } from "./support/http.ts";
import { openTestStore } from "./support/store.ts";

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const ID = "0199a0b1-0000-7000-8000-000000000001";

const things: RoutePlugin = (app) => {
  const params = Type.Object({ id: Type.String({ format: "uuid" }) });
  app.get("/things/:id", { config: { scope: "read:orders" }, schema: { params } }, async ({ params: { id } }) => ({
    id,
  }));
  app.post(
    "/things/search",
    { config: { scope: "read:orders" }, schema: { body: Type.Object({ name: Type.String() }) } },
    async (request) => ({ found: request.body.name, by: principalOf(request).clientId }),
  );
  app.post(
    "/things/:id/cancel",
    {
      config: { public: true },
      schema: { params, body: Type.Optional(Type.Object({ reason: Type.Optional(Type.String()) })) },
    },
    async (request) => ({ reason: request.body.reason ?? null }),
  );
  app.get("/short", { config: { public: true } }, async () => {
    throw new Problem("insufficient_balance", "AUD 1.00 is missing.", { members: { shortfall_cents: 100 } });
  });
  app.get("/broken", { config: { public: true } }, async () => {
    throw new Error("password=hunter2 at line 3");
  });
};

const token: RoutePlugin = (app) => {
  acceptForms(app);
  const body = Type.Object({
    grant_type: Type.Literal("client_credentials"),
    client_id: Type.String({ minLength: 10 }),
  });
  app.post(
    "/token",
    { config: { public: true, errorShape: "oauth", rateLimit: "token" }, schema: { body } },
    async ({ body: { client_id } }) => {
      if (client_id === "unknown-client") throw new TokenRefusal("invalid_client", "Unknown client.");
      if (client_id === "suspended-client") throw new Problem("partner_suspended", 'The account "x" is suspended.');
      if (client_id === "crash-client") throw new Error("database password is hunter2");
      return { client_id };
    },
  );
};

const json = { "content-type": "application/json" };
const good = { authorization: "Bearer good" };
const form = { "content-type": "application/x-www-form-urlencoded" };

/** Sends bytes on a raw socket and returns everything received until it closes. */
async function raw(port: number, bytes: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  let answer = "";
  socket.on("data", (chunk) => {
    answer += String(chunk);
  });
  socket.write(bytes);
  await once(socket, "close");
  return answer;
}

describe("problem bodies", () => {
  it("carry every member, and no query string", async () => {
    const { url } = await startServer({ routes: [things] });
    const response = await fetch(`${url}/short?token=abc`, { headers: { "x-request-id": "call-7.a_B" } });
    expect(response.status).toBe(402);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(await response.json()).toEqual({
      type: "https://esim.example/docs/errors/insufficient_balance",
      title: "Insufficient Balance",
      status: 402,
      detail: "AUD 1.00 is missing.",
      instance: "/short",
      requestId: "call-7.a_B",
      timestamp: "2026-03-02T09:30:00.000Z",
      shortfall_cents: 100,
    });
  });

  it("reveal nothing of internal errors", async () => {
    const { url } = await startServer({ routes: [things] });
    const response = await fetch(`${url}/broken`);
    const text = await response.text();
    expect(response.status).toBe(500);
    expect(JSON.parse(text)).toMatchObject({ type: "https://esim.example/docs/errors/internal", status: 500 });
    expect(text).not.toMatch(/hunter2|line 3|Error:/);
  });

  it.each([
    ["malformed JSON", json, '{"name":', 400, "invalid_request"],
    ["bytes that are not UTF-8", json, Buffer.from('{"name":"\xff"}', "latin1"), 400, "invalid_request"],
    ["a million brackets", json, "[".repeat(500_000) + "]".repeat(500_000), 400, "invalid_request"],
    ["nesting below the root", json, `{"name":"x","more":${"[".repeat(64)}${"]".repeat(64)}}`, 400, "invalid_request"],
    ["another media type", { "content-type": "text/plain" }, "name=x", 415, "unsupported_media_type"],
    ["a form where none is read", form, "name=x", 415, "unsupported_media_type"],
    ["a senseless media type", { "content-type": "json" }, "{}", 415, "unsupported_media_type"],
    ["a body over 1 MiB", json, JSON.stringify({ name: "x".repeat(1024 * 1024) }), 413, "payload_too_large"],
    ["no body", {}, undefined, 400, "validation"],
    ["an empty JSON body", json, "", 400, "validation"],
    ["null for a body", json, "null", 400, "validation"],
    ["a list for a body", json, "[]", 400, "validation"],
  ])("refuse %s", async (_what, headers, body, status, slug) => {
    const { url } = await startServer({ routes: [things] });
    const sent = { ...good, ...headers } as Record<string, string>; // the table's rows have different header sets
    const response = await fetch(`${url}/things/search`, { method: "POST", headers: sent, body: body ?? null });
    expect(response.status).toBe(status);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(response.headers.get("x-request-id")).toMatch(UUID_V7);
    expect(await response.json()).toMatchObject({
      type: `https://esim.example/docs/errors/${slug}`,
      status,
      instance: "/things/search",
    });
  });

  it("accept bodies of up to 1 MiB and 64 levels", async () => {
    const { url } = await startServer({ routes: [things] });
    const frame = JSON.stringify({ name: "", more: [] }).length;
    const post = (body: string) =>
      fetch(`${url}/things/search`, { method: "POST", headers: { ...good, ...json }, body });
    expect((await post(JSON.stringify({ name: "x".repeat(1024 * 1024 - frame), more: [] }))).status).toBe(200);
    expect((await post(`{"name":"x","more":${"[".repeat(63)}${"]".repeat(63)}}`)).status).toBe(200);
  });

  it("answer malformed HTTP on the socket", async () => {
    const { port } = await startServer();
    const answer = await raw(port, "GET / HTTP/1.1\r\nbad header line\r\n\r\n");
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(answer).toMatch(/content-type: application\/problem\+json/i);
    expect(answer).toMatch(/"type":"https:\/\/esim\.example\/docs\/errors\/invalid_request"/);
    const large = await raw(port, `GET / HTTP/1.1\r\nHost: x\r\nX-Big: ${"x".repeat(40_000)}\r\n\r\n`);
    expect(large).toMatch(/^HTTP\/1\.1 431 /);
    expect(large).toMatch(/"status":431/);
  });

  it("answer a malformed percent-encoding", async () => {
    const { port } = await startServer({ routes: [things] });
    const answer = await raw(port, "GET /things/%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toMatch(/x-request-id: /i);
    expect(answer).toMatch(/x-ratelimit-limit: 300/i);
    expect(answer).toMatch(/errors\/invalid_request.*"instance":"\/things\/%zz"/);
  });
});

describe("an optional body", () => {
  it.each([
    ["nothing", {}, null],
    ["a content type alone", json, ""],
    ["an empty object", json, "{}"],
    ["a null field", json, '{"reason":null}'],
  ])("may be %s", async (_what, headers, body) => {
    const { url } = await startServer({ routes: [things] });
    const response = await fetch(`${url}/things/${ID}/cancel`, { method: "POST", headers: { ...headers }, body });
    expect([response.status, await response.json()]).toEqual([200, { reason: null }]);
  });

  it("is checked when it is there", async () => {
    const { url } = await startServer({ routes: [things] });
    const response = await fetch(`${url}/things/${ID}/cancel`, { method: "POST", headers: json, body: '{"reason":5}' });
    expect(await response.json()).toMatchObject({ status: 400, errors: { reason: ["must be a string"] } });
  });
});

describe("request ids", () => {
  it.each(["a", "x".repeat(128), "A-z_0.9"])("keep the caller's own: %s", async (id) => {
    const { url } = await startServer();
    expect((await fetch(`${url}/healthz`, { headers: { "x-request-id": id } })).headers.get("x-request-id")).toBe(id);
  });

  it.each(["", "x".repeat(129), "a b", "a/b", "ü"])("replace a malformed one: %s", async (id) => {
    const { url } = await startServer();
    const response = await fetch(`${url}/healthz`, { headers: { "x-request-id": id } });
    expect(response.headers.get("x-request-id")).toMatch(UUID_V7);
  });
});

describe("paths and methods", () => {
  it("answer an unknown path with 404, token or not, whatever the body", async () => {
    const { url } = await startServer({ routes: [things] });
    for (const headers of [{}, good, { authorization: "Bearer wrong" }]) {
      const response = await fetch(`${url}/nothing/here?x=1`, { headers });
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({
        type: "https://esim.example/docs/errors/not_found",
        instance: "/nothing/here",
      });
    }
    expect((await fetch(`${url}/nothing`, { method: "POST", headers: json, body: "{" })).status).toBe(404);
    for (const path of [`/things/${ID}/`, "/things/", "/nothing"]) {
      expect((await fetch(url + path, { headers: good })).status).toBe(404);
      expect((await fetch(url + path, { method: "OPTIONS" })).status).toBe(404);
    }
  });

  it.each([
    ["DELETE", `/things/${ID}`, "GET, HEAD"],
    ["POST", `/things/${ID}`, "GET, HEAD"],
    ["OPTIONS", `/things/${ID}`, "GET, HEAD"],
    ["PROPFIND", `/things/${ID}`, "GET, HEAD"],
    ["PROPFIND", "/things/search", "POST"],
    ["OPTIONS", `/things/${ID}?fields=id`, "GET, HEAD"],
    ["GET", "/things/search", "POST"],
    ["PUT", "/healthz", "GET, HEAD"],
  ])("answer %s %s with 405 and Allow", async (method, path, allow) => {
    const { url } = await startServer({ routes: [things] });
    const response = await fetch(url + path, { method });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe(allow);
    expect(await response.json()).toMatchObject({
      type: "https://esim.example/docs/errors/method_not_allowed",
      status: 405,
    });
  });

  it("answer HEAD as GET, without a body", async () => {
    const { url } = await startServer({ routes: [things] });
    const response = await fetch(`${url}/things/${ID}`, { method: "HEAD", headers: good });
    expect([response.status, await response.text()]).toEqual([200, ""]);
  });
});

describe("access", () => {
  it("needs a token where a scope is named", async () => {
    const { url } = await startServer({ routes: [things] });
    const response = await fetch(`${url}/things/${ID}`);
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe('Bearer realm="Partner API"');
    expect(await response.json()).toMatchObject({ type: "https://esim.example/docs/errors/unauthorized" });
  });

  it("names the missing scope", async () => {
    const authenticate = knownTokens({ reader: { scopes: ["read:products"] } });
    const { url } = await startServer({ routes: [things], authenticate });
    const response = await fetch(`${url}/things/${ID}`, { headers: { authorization: "Bearer reader" } });
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({
      type: "https://esim.example/docs/errors/insufficient_scope",
      detail: expect.stringContaining("read:orders"),
    });
  });

  it("refuses an invalid token before it reads the body", async () => {
    const { url } = await startServer({ routes: [things] });
    const response = await fetch(`${url}/things/search`, { method: "POST", headers: json, body: "{" });
    expect(response.status).toBe(401);
  });

  it("requires a rule for every route", async () => {
    const open: RoutePlugin = (app) => app.get("/open", async () => ({}));
    await expect(startServer({ routes: [open] })).rejects.toThrow(/GET \/open needs either config\.scope or/);
  });
});

describe("the token endpoint", () => {
  const post = async (url: string, body: string, headers: Record<string, string> = form) => {
    const response = await fetch(`${url}/token`, { method: "POST", headers, body });
    expect(response.headers.get("content-type")).toMatch(/^application\/json/);
    const sent = (await response.json()) as { error?: string; error_description?: string };
    return { status: response.status, headers: response.headers, body: sent };
  };

  it("reads forms and JSON", async () => {
    const { url } = await startServer({ routes: [token] });
    const inForm = await post(url, "grant_type=client_credentials&client_id=sk_test_1234");
    const inJson = await post(url, '{"grant_type":"client_credentials","client_id":"sk_test_1234"}', json);
    expect([inForm.body, inJson.body]).toEqual([{ client_id: "sk_test_1234" }, { client_id: "sk_test_1234" }]);
  });

  it.each([
    ["a missing field", form, "grant_type=client_credentials", 400, "invalid_request"],
    ["a wrong grant", form, "grant_type=password&client_id=sk_test_1234", 400, "invalid_request"],
    ["a repeated field", form, "grant_type=client_credentials&client_id=sk_test_1&client_id=b", 400, "invalid_request"],
    ["malformed JSON", json, "{", 400, "invalid_request"],
    ["another media type", { "content-type": "text/xml" }, "<a/>", 415, "invalid_request"],
    ["a body over 1 MiB", form, `x=${"x".repeat(1024 * 1024)}`, 413, "invalid_request"],
    ["bad credentials", form, "grant_type=client_credentials&client_id=unknown-client", 401, "invalid_client"],
    [
      "a suspended partner",
      form,
      "grant_type=client_credentials&client_id=suspended-client",
      403,
      "unauthorized_client",
    ],
    ["an inner fault", form, "grant_type=client_credentials&client_id=crash-client", 500, "server_error"],
  ])("refuses %s with an OAuth error", async (_what, headers, body, status, error) => {
    const { url } = await startServer({ routes: [token] });
    const answer = await post(url, body, { ...headers });
    expect(answer.status).toBe(status);
    expect(Object.keys(answer.body)).toEqual(["error", "error_description"]);
    expect(answer.body.error).toBe(error);
    expect(answer.body.error_description).toMatch(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/);
    expect(answer.body.error_description).not.toMatch(/hunter2/);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.headers.get("x-ratelimit-limit")).toMatch(/^30|300$/);
  });
});

describe("health", () => {
  it("is alive and ready while the store answers", async () => {
    const clock = testClock();
    const { location, masterKey } = await openTestStore(clock);
    const store = await openStore(location, { clock, ids: randomIds(), masterKey });
    const { url } = await startServer({ store, clock });
    expect(await (await fetch(`${url}/healthz`)).json()).toEqual({ status: "ok" });
    const ready = await fetch(`${url}/readyz`);
    expect([ready.status, await ready.json()]).toEqual([200, { status: "ready" }]);
    await store.close();
    const down = await fetch(`${url}/readyz`);
    expect([down.status, await down.json()]).toEqual([503, { status: "unavailable", reason: "store" }]);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });
});

describe("stopping", () => {
  const gate = () => {
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
    const { promise: opened, resolve: open } = Promise.withResolvers<void>();
    const slow: RoutePlugin = (app) => {
      app.get("/slow", { config: { public: true } }, async () => {
        arrive();
        await opened;
        return { done: true };
      });
    };
    return { slow, arrived, open };
  };

  it("finishes requests in flight, reports not ready, and accepts no new connection", async () => {
    const { slow, arrived, open } = gate();
    const { app, url, port } = await startServer({ routes: [slow] });
    const keptAlive = connect(port, "127.0.0.1");
    await once(keptAlive, "connect");
    keptAlive.write("GET /readyz HTTP/1.1\r\nHost: x\r\n"); // unfinished: the connection is in use
    const answer = fetch(`${url}/slow`);
    await arrived;
    const drained = drain(app, 30_000);
    const refused = async () => (await fetch(`${url}/healthz`).catch(() => null)) === null;
    await expect.poll(refused).toBe(true);
    keptAlive.write("\r\n");
    const [data] = await once(keptAlive, "data");
    expect(String(data)).toMatch(/^HTTP\/1\.1 503 [\s\S]*"reason":"draining"/);
    open();
    expect(await (await answer).json()).toEqual({ done: true });
    await drained;
  });

  it("ends requests that do not finish in time", async () => {
    const { slow, arrived, open } = gate();
    const { app, url } = await startServer({ routes: [slow] });
    const answer = fetch(`${url}/slow`).then(
      () => "answered",
      () => "cut off",
    );
    await arrived;
    const drained = drain(app, 50);
    expect(await answer).toBe("cut off");
    open();
    await drained;
  });

  it("reports that a port is taken", async () => {
    const { port, context } = await startServer();
    const second = testApp(context);
    onTestFinished(() => second.close());
    const failed = await listen(second, { host: "127.0.0.1", port }).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(ListenError);
    expect(failed).toMatchObject({
      message: `Port ${port} on 127.0.0.1 is taken by another process.`,
      hint: expect.stringContaining("--port"),
    });
  });
});
