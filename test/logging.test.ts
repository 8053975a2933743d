import { PassThrough } from "node:stream";
import { inspect } from "node:util";
import type { Logger } from "pino";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { Secret } from "../src/core/kernel/secret.ts";
import type { RoutePlugin } from "../src/daemon/context/fastify.ts";
import type { LogLevel } from "../src/daemon/log/lines.ts";
import { createLogger } from "../src/daemon/log/logger.ts";
import { createMetrics } from "../src/daemon/metrics/metrics.ts";
import { startMetricsServer } from "../src/daemon/serve/listen.ts";
import { startServer } from "./support/http.ts";

const routes: RoutePlugin[] = [
  (app) => {
    app.get("/qr/:token", { config: { public: true } }, async () => ({}));
    app.get("/mine", { config: { scope: "read:orders" } }, async () => ({}));
    app.get("/broken", { config: { public: true } }, async () => {
      const cause = Object.assign(new Error("duplicate key"), { detail: "Key (passport_no)=(PA1234567) exists" });
      throw new Error("Failed query: insert into passports\nparams: PA1234567,1980-05-17", { cause });
    });
  },
];

/** A logger, and the lines that it has written. */
async function capture(): Promise<{ logger: Logger; lines: () => Record<string, unknown>[]; text: () => string }> {
  const stream = new PassThrough();
  let text = "";
  stream.on("data", (chunk) => {
    text += String(chunk);
  });
  const logger = await createLogger("info", { pretty: false, destination: stream });
  const lines = () =>
    text
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  return { logger, lines, text: () => text };
}

describe("the request log", () => {
  it("has one line for each request: its id, route pattern, status, time and client", async () => {
    const { logger, lines } = await capture();
    const { url } = await startServer({ routes, logger });
    await fetch(`${url}/mine?cursor=abc`, { headers: { authorization: "Bearer good", "x-request-id": "call-1" } });
    await fetch(`${url}/nothing/at/all`, { headers: { "x-request-id": "call-2" } });
    await expect.poll(() => lines().filter(({ msg }) => msg === "request").length).toBe(2);
    const [mine, nothing] = lines().filter(({ msg }) => msg === "request");
    expect(mine).toEqual({
      level: "info",
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      request_id: "call-1",
      method: "GET",
      route: "/mine",
      status: 200,
      ms: expect.any(Number),
      partner: "known",
      client_id: "sk_test_good",
      msg: "request",
    });
    expect(nothing).toMatchObject({ request_id: "call-2", route: "(unknown)", status: 404, refusal: "not_found" });
  });

  it.each(["POST", "OPTIONS", "PROPFIND"])("has the route pattern of a path without the method %s", async (method) => {
    const { logger, lines } = await capture();
    const { url } = await startServer({ routes, logger });
    await fetch(`${url}/qr/t0ps3cret?x=1`, { method });
    await expect.poll(() => lines().filter(({ msg }) => msg === "request").length).toBe(1);
    const line = lines().find(({ msg }) => msg === "request");
    expect(line).toMatchObject({ method, route: "/qr/:token", status: 405, refusal: "method_not_allowed" });
  });

  it("never shows a token, a query string or the address that holds one", async () => {
    const { logger, text } = await capture();
    const { url } = await startServer({ routes, logger });
    await fetch(`${url}/qr/t0ps3cret?passport_no=PA1234567`, { headers: { authorization: "Bearer n0t-a-token" } });
    await fetch(`${url}/mine`, { headers: { authorization: "Bearer n0t-a-token" } });
    await expect.poll(() => text().split("\n").length).toBeGreaterThan(2);
    expect(text()).not.toMatch(/t0ps3cret|PA1234567|n0t-a-token/);
    expect(text()).toMatch(/"route":"\/qr\/:token"/);
  });

  it("names the error and the request id, without the data of the request", async () => {
    const { logger, lines, text } = await capture();
    const { url } = await startServer({ routes, logger });
    await fetch(`${url}/broken`, { headers: { "x-request-id": "call-3" } });
    await expect.poll(() => lines().filter(({ msg }) => msg === "request failed").length).toBe(1);
    const line = lines().find(({ msg }) => msg === "request failed");
    expect(line).toMatchObject({
      level: "error",
      request_id: "call-3",
      err: { message: "Failed query: insert into passports", cause: { message: "duplicate key" } },
    });
    expect(text()).not.toMatch(/PA1234567|1980-05-17/);
  });
});

describe("on a terminal", () => {
  /** What a person sees at this level, and what the file gets, of a request, a warning and a fault. */
  async function shown(level: LogLevel) {
    const [screen, file] = [new PassThrough(), new PassThrough()];
    const logger = await createLogger(level, { pretty: true, destination: screen, file });
    const { url } = await startServer({ routes, logger });
    await fetch(`${url}/broken`, { headers: { "x-request-id": "call-4" } });
    logger.warn("stock is low");
    const texts = { screen: "", file: "" };
    screen.on("data", (chunk) => {
      texts.screen += String(chunk);
    });
    file.on("data", (chunk) => {
      texts.file += String(chunk);
    });
    await expect.poll(() => texts.screen).toContain("stock is low");
    await expect.poll(() => texts.file).toContain('"msg":"request"}');
    return texts;
  }

  it("warnings and faults are shown, requests only at debug; the file has them all", async () => {
    const { screen, file } = await shown("info");
    expect(screen).toContain("request failed");
    expect(screen).not.toMatch(/: request$/m);
    expect(file).toMatch(/"msg":"request failed"}\n.*"route":"\/broken","status":500,.*"msg":"request"}\n/s);
    expect(file + screen).not.toMatch(/PA1234567|listening/);
    expect((await shown("debug")).screen).toMatch(/: request$/m);
  });

  it("text from outside has no cursor movements, bidirectional controls or line breaks", async () => {
    const screen = new PassThrough();
    const logger = await createLogger("info", { pretty: true, destination: screen });
    logger.warn({ "na\u009bme": "val\u202eue", list: ["\u2066x"] }, "stock\n[10:00:00] FATAL: \u001b[2Jforged");
    await expect.poll(() => String(screen.read() ?? "")).toContain("stock [10:00:00] FATAL:  [2Jforged");
    logger.warn({ "na\u009bme": "val\u202eue", list: ["\u2066x"] }, "low");
    const text = await vi.waitUntil(() => String(screen.read() ?? "") || undefined);
    expect(text).toContain("na me");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001a\u007f-\u009f\u202e\u2066]/);
  });
});

describe("redaction", () => {
  it("keeps a Secret out of logs, JSON, templates and printed output", async () => {
    const { logger, text } = await capture();
    const secret = new Secret("hunter2");
    logger.info({ secret, deep: { list: [secret] } }, `${secret}`);
    await expect.poll(text).not.toBe("");
    const everywhere = [text(), JSON.stringify({ secret }), String(secret), inspect({ secret }, { showHidden: true })];
    for (const shown of everywhere) {
      expect(shown).toContain("[redacted]");
      expect(shown).not.toContain("hunter2");
    }
    expect(secret.reveal()).toBe("hunter2");
  });

  it("covers the names that hold secrets and identity data, at every depth", async () => {
    const { logger, text } = await capture();
    const person = { passport_no: "PA1234567", date_of_birth: "1980-05-17", puk: "81726354", address: "1 Sample St" };
    const customer = { email: "mia@example.com", name: "Mia Chen", phone: "+61 400 000 001" };
    logger.info(
      { ...person, headers: { authorization: "Bearer abc" }, records: [{ ...person }], orders: [{ customer }] },
      "import",
    );
    await expect.poll(text).not.toBe("");
    expect(text()).not.toMatch(/PA1234567|1980-05-17|81726354|Sample St|Bearer abc|mia@|Mia|400 000/);
  });
});

describe("metrics", () => {
  it("count requests by route pattern on a listener of their own", async () => {
    const metrics = createMetrics();
    const { url } = await startServer({ routes, metrics });
    const { url: metricsUrl, close } = await startMetricsServer(metrics.registry, 0);
    onTestFinished(close);
    expect((await fetch(`${url}/metrics`)).status).toBe(404);
    for (let sent = 0; sent < 301; sent++) await fetch(`${url}/qr/t0ps3cret`);
    const read = async () => (await fetch(metricsUrl)).text();
    await expect.poll(read).toMatch(/http_requests_total\{method="GET",route="\/qr\/:token",status="429"\} 2\n/);
    const text = await read();
    expect(text).toMatch(/http_requests_total\{method="GET",route="\/qr\/:token",status="200"\} 299\n/);
    expect(text).toMatch(/http_rate_limited_total\{route="\/qr\/:token"\} 2\n/);
    expect(text).toMatch(/http_request_duration_seconds_count\{method="GET",route="\/qr\/:token",status="200"\} 299\n/);
    expect(text).toMatch(/^process_resident_memory_bytes \d+/m);
    expect(text).not.toContain("t0ps3cret");
    expect(new URL(metricsUrl).hostname).toBe("127.0.0.1");
    expect((await fetch(new URL("/other", metricsUrl))).status).toBe(404);
  });

  it("report that their port is taken", async () => {
    const { port } = await startServer();
    await expect(startMetricsServer(createMetrics().registry, port)).rejects.toMatchObject({
      message: `Port ${port} on 127.0.0.1 is taken by another process.`,
      hint: expect.stringContaining("--metrics-port"),
    });
  });
});
