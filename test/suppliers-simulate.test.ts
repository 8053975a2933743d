import { createServer } from "node:http";
import { describe, expect, onTestFinished, test } from "vitest";
import { simulateEsimaccess } from "../src/daemon/simulators/esimaccess.ts";
import type { ProviderAnswer, ProviderRequest, SimulatedProvider } from "../src/daemon/simulators/provider.ts";
import { serveSimulator } from "../src/daemon/simulators/serve.ts";
import { freePort } from "./support/free-port.ts";
import { launch } from "./support/process.ts";
import { startProvider } from "./support/providers/start.ts";
import { startReceiver } from "./support/receiver.ts";
import { temporaryDirectory } from "./support/store.ts";
import { esimctl } from "./support/warm.ts";

/** A provider of one call, which shows what it was asked, to test the frame around it. */
function plain(answer: (asked: ProviderRequest) => ProviderAnswer = () => ({ status: 200, body: {} })) {
  const asked: ProviderRequest[] = [];
  let address: string | null = null;
  let resets = 0;
  const provider: SimulatedProvider = {
    name: "esimaccess",
    basePath: "/v9",
    secret: "KEY",
    callOf: ({ path }) => (path === "/orders" ? "order" : null),
    answer(request) {
      asked.push(request);
      return answer(request);
    },
    play: ({ iccid }) =>
      iccid === "none" ? null : address === null ? [] : [{ url: address, headers: { "x-a": "b" }, body: iccid }],
    notify(url) {
      address = url;
    },
    state: () => ({ bought: asked.length, balance: "1.0000" }),
    reset() {
      resets += 1;
    },
  };
  return { provider, asked, resets: () => resets };
}

const post = (url: string, body: unknown = {}) => fetch(url, { method: "POST", body: JSON.stringify(body) });

describe("the frame", () => {
  test("gives a provider what is below its base path, byte for byte, and its clock", async () => {
    const { provider, asked } = plain(() => ({ status: 202, headers: { "x-left": "9" }, body: { ok: true } }));
    const { url } = await startProvider(provider, { now: () => 1_234 });
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v9$/);
    const response = await fetch(`${url}/orders?a=b`, { method: "PUT", body: "\u00e4 {", headers: { "x-key": "k" } });
    expect([response.status, response.headers.get("x-left"), await response.json()]).toEqual([202, "9", { ok: true }]);
    expect(asked).toMatchObject([{ method: "PUT", path: "/orders", headers: { "x-key": "k" }, now: 1_234 }]);
    expect(asked[0]?.query.get("a")).toBe("b");
    expect(asked[0]?.body.toString()).toBe("\u00e4 {");
    expect(asked[0]?.steered).toBeNull();
    expect((await fetch(new URL("/elsewhere", url))).status).toBe(404);
    expect(asked).toHaveLength(1);
  });

  test("an answer without a body has none; a fault of the simulation is a 500 in words", async () => {
    const { provider } = plain(({ path }) => {
      if (path === "/broken") throw new Error("out of order");
      return { status: 204 };
    });
    const { url } = await startProvider(provider);
    expect([(await post(`${url}/x`)).status, await (await post(`${url}/x`)).text()]).toEqual([204, ""]);
    const broken = await post(`${url}/broken`);
    expect([broken.status, await broken.text()]).toEqual([500, expect.stringContaining("out of order")]);
  });

  test("a body over 1 MB is refused, and the provider does not get it", async () => {
    const { provider, asked } = plain();
    const { url } = await startProvider(provider);
    const response = await fetch(`${url}/orders`, { method: "POST", body: Buffer.alloc(1_048_577) });
    expect(response.status).toBe(413);
    expect((await fetch(`${url}/orders`, { method: "POST", body: Buffer.alloc(1_048_576) })).status).toBe(200);
    expect(asked).toHaveLength(1);
  });

  test("closing ends answers that wait, also twice", async () => {
    const { provider, asked } = plain();
    const { url, steer, close } = await startProvider(provider);
    await steer({ on: "order", outcome: "delay", delay_ms: 600_000 });
    const waiting = post(`${url}/orders`);
    await expect.poll(() => asked.length).toBe(1);
    await Promise.all([close(), expect(waiting).rejects.toThrow()]);
    await close();
  });

  test("a call that waits for its callback is answered by what comes of that", async () => {
    const receiver = await startReceiver();
    const { provider } = plain(() => ({
      status: 200,
      callbacks: [{ url: receiver.url, headers: {}, body: '"health"' }],
      unanswered: () => ({ status: 422 }),
    }));
    const { url } = await startProvider(provider);
    expect((await post(`${url}/hook`)).status).toBe(200);
    expect(receiver.received.map(({ body }) => body)).toEqual(['"health"']);
    receiver.answers(500);
    expect((await post(`${url}/hook`)).status).toBe(422);
  });

  test("what a call sends by itself follows its answer, also where that is lost", async () => {
    const receiver = await startReceiver();
    const { provider } = plain(() => ({
      status: 200,
      callbacks: [{ url: receiver.url, headers: {}, body: '"ready"' }],
    }));
    const { url, steer } = await startProvider(provider);
    await steer({ on: "order", outcome: "lost" });
    await expect(post(`${url}/orders`)).rejects.toThrow();
    await post(`${url}/orders`);
    await receiver.got(2);
  });
});

describe("steering", () => {
  test("counts calls, and ends the next ones of a kind one after the other; delays go with them", async () => {
    const { provider, asked } = plain();
    const { url, steer, counts } = await startProvider(provider);
    await steer({ on: "order", outcome: "refuse", delay_ms: 0 });
    await steer({ on: "order", outcome: "lost" });
    await steer({ on: "order", outcome: "wait", delay_ms: 7, count: 2 });
    await steer({ on: "order", outcome: "delay", delay_ms: 1, count: 9 });
    await post(`${url}/other`);
    await post(`${url}/orders`);
    await expect(post(`${url}/orders`)).rejects.toThrow();
    await post(`${url}/orders`);
    expect(asked.map(({ steered }) => steered?.outcome ?? null)).toEqual([null, "refuse", null, "wait"]);
    expect(asked.at(-1)?.steered).toEqual({ outcome: "wait", delay_ms: 7 });
    expect(await counts()).toEqual({
      calls: 4,
      bought: 4,
      balance: "1.0000",
      by: { order: 3, topup: 0, cancel: 0, query: 0, other: 1 },
      steered: [
        { on: "order", outcome: "wait", count: 1, delay_ms: 7 },
        { on: "order", outcome: "delay", count: 6, delay_ms: 1 },
      ],
    });
  });

  test("is taken back alone, or with all else", async () => {
    const { provider, asked, resets } = plain();
    const { url, steer, counts } = await startProvider(provider);
    await steer({ on: "order", outcome: "busy", count: 1_000_000 });
    expect((await fetch(`${url}/_simulate/steering`, { method: "DELETE" })).status).toBe(200);
    await post(`${url}/orders`);
    expect([asked[0]?.steered, resets(), (await counts()).calls]).toEqual([null, 0, 1]);
    await steer({ on: "order", outcome: "busy" });
    expect((await fetch(`${url}/_simulate`, { method: "DELETE" })).status).toBe(200);
    expect([resets(), await counts()]).toMatchObject([1, { calls: 0, by: { order: 0 }, steered: [] }]);
  });

  test("answers what it understood, and refuses in words what it did not", async () => {
    const { url } = await startProvider(plain().provider);
    const steered = await post(`${url}/_simulate`, { on: "query", outcome: "wait" });
    expect([steered.status, await steered.json()]).toEqual([
      200,
      { on: "query", outcome: "wait", count: 1, delay_ms: 2_000 },
    ]);
    const wrong: [path: string, body: unknown, words: RegExp][] = [
      ["", { on: "order" }, /"outcome"/],
      ["", { on: "refund", outcome: "lost" }, /order \| topup/],
      ["", { on: "order", outcome: "lost", count: 0 }, /1 to 1000000/],
      ["", { on: "order", outcome: "lost", more: 1 }, /Steering is/],
      ["/phone", { iccid: "1", state: "broken" }, /used_up/],
      ["/phone", { iccid: "1", late_ms: 5 }, /A phone is/],
      ["/callbacks", { url: "ftp://x" }, /null for none/],
      ["/callbacks", {}, /Callbacks are/],
    ];
    for (const [path, body, words] of wrong) {
      const response = await post(`${url}/_simulate${path}`, body);
      expect([response.status, (await response.json()).message], path).toEqual([400, expect.stringMatching(words)]);
    }
    expect((await fetch(`${url}/_simulate`, { method: "POST", body: "no JSON" })).status).toBe(400);
    expect((await post(`${url}/_simulate/elsewhere`)).status).toBe(404);
    // Without the base path too.
    expect((await fetch(new URL("/_simulate", url))).status).toBe(200);
  });

  test("a phone's notices are sent once, or twice, and what was answered is shown", async () => {
    const receiver = await startReceiver();
    const { url, phone } = await startProvider(plain().provider);
    expect(await phone({ iccid: "1" })).toEqual([]);
    await post(`${url}/_simulate/callbacks`, { url: receiver.url });
    expect(await phone({ iccid: "1" })).toEqual([200]);
    receiver.answers(503);
    expect(await phone({ iccid: "2", repeat: true })).toEqual([503, 503]);
    expect(receiver.received.map(({ body, headers }) => [body, headers["x-a"]])).toEqual([
      ["1", "b"],
      ["2", "b"],
      ["2", "b"],
    ]);
    await post(`${url}/_simulate/callbacks`, { url: `http://127.0.0.1:${await freePort()}/` });
    expect(await phone({ iccid: "3" })).toEqual([null]);
    expect((await post(`${url}/_simulate/phone`, { iccid: "none" })).status).toBe(404);
  });
});

describe("suppliers simulate", () => {
  const args = ["suppliers", "simulate", "esimaccess", "--port"];
  const order = (url: string, transactionId: string) =>
    fetch(`${url}/esim/order`, {
      method: "POST",
      headers: { "rt-accesscode": "DEMOACCESS" },
      body: JSON.stringify({ transactionId, packageInfoList: [{ packageCode: "CJP101", count: 1 }] }),
    });

  test("listens without data, is steered by its options, and ends by a signal with exit code 0", async () => {
    const cwd = temporaryDirectory();
    const flags = ["--refuse", "1", "--lose", "1", "--delay", "1", "--json"];
    const { line, end } = launch([...args, "0", ...flags], { cwd });
    const first = JSON.parse(await line(0));
    expect(first).toEqual({
      event: "listening",
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/api\/v1\/open$/),
      secret: "DEMOACCESS:DEMOSECRETKEY",
    });
    expect(await (await order(first.url, "a")).json()).toMatchObject({ success: false, errorCode: "200011" });
    await expect(order(first.url, "b")).rejects.toThrow();
    expect(await (await order(first.url, "b")).json()).toMatchObject({ success: true, obj: { transactionId: "b" } });
    expect(await (await fetch(`${first.url}/_simulate`)).json()).toMatchObject({
      calls: 3,
      bought: 1,
      balance: "999.3000",
      by: { order: 3 },
      steered: [{ on: "order", outcome: "delay", count: 999_997, delay_ms: 1 }],
    });
    const ended = await end("SIGTERM");
    expect(ended).toMatchObject({ exitCode: 0, stderr: "" });
    expect(ended.stdout.trim().split("\n")).toHaveLength(1);
  });

  test("prints to people what to paste; Ctrl-C ends it too", async () => {
    const { printed, text, end } = launch([...args, "0"]);
    await printed("DELETE");
    const url = /simulating esimaccess at (\S+)/.exec(text())?.[1];
    expect(text()).toContain(`--adapter esimaccess --url ${url} --secret DEMOACCESS:DEMOSECRETKEY`);
    expect(text()).toContain(`curl -X POST ${url}/_simulate -d '{"on": "order"`);
    expect(await end("SIGINT")).toMatchObject({ exitCode: 0 });
  });

  test("an unknown provider and a wrong number are refused, and a port in use ends it", async () => {
    const unknown = await esimctl(["suppliers", "simulate", "northwind", "--port", "0", "--json"]);
    expect(unknown).toMatchObject({ exitCode: 2, stdout: expect.stringContaining("esimaccess") });
    expect(await esimctl([...args, "0", "--delay", "600001"])).toMatchObject({ exitCode: 2 });
    expect(await esimctl(args.slice(0, -1))).toMatchObject({ exitCode: 2 });
    const taken = createServer();
    onTestFinished(() => void taken.close());
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    const address = taken.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const { exitCode, stderr } = await esimctl([...args, String(port)]);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(`Port ${port} on 127.0.0.1 is taken`)]);
    await expect(serveSimulator(simulateEsimaccess(), { port: Number(port), now: Date.now })).rejects.toThrow(
      /EADDRINUSE/,
    );
  });
});
