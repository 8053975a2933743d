import { appendFileSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startDaemon } from "./support/daemon.ts";
import { launch } from "./support/process.ts";
import { openShop, shopToken } from "./support/shop.ts";
import { temporaryDirectory } from "./support/store.ts";
import { esimctl, esimctlJson } from "./support/warm.ts";

interface Lines {
  data: Record<string, unknown>[];
  count: number;
}

/** A daemon on a shop that has answered an order (call-order) and refused a request (call-refused). */
async function served() {
  const folder = temporaryDirectory();
  const shop = await openShop({ folder, stock: { EU5: 3 }, priceCents: 100, fundsCents: 1000 });
  const daemon = await startDaemon({ data: shop.data });
  const authorization = `Bearer ${await shopToken(shop, daemon.url)}`;
  const call = (id: string, body: unknown) =>
    fetch(`${daemon.url}/api/v1/orders`, {
      method: "POST",
      headers: { authorization, "content-type": "application/json", "x-request-id": id, "idempotency-key": id },
      body: JSON.stringify(body),
    });
  const order = await call("call-order", { line_items: [{ product_id: shop.products.EU5, quantity: 1 }] });
  expect(order.status).toBe(201);
  expect((await call("call-refused", { line_items: [] })).status).toBe(400);
  const at = ["--data", shop.data];
  return {
    daemon,
    log: join(shop.data, "logs", "serve.log"),
    token: authorization,
    tail: async (...args: string[]) => (await esimctlJson(["logs", "tail", ...args, ...at])) as Lines,
    run: (...args: string[]) => esimctl([...args, ...at]),
    json: (...args: string[]) => esimctlJson([...args, ...at]),
  };
}

test("the daemon's log is kept, found by request id, and part of find's timeline", { tags: ["slow"] }, async () => {
  const { daemon, log, token, tail, run, json } = await served();
  await expect.poll(async () => (await tail("--request", "call-refused")).count).toBe(1);
  expect((await tail()).data.map(({ msg }) => msg)).toContain(`listening on ${daemon.url}`);
  expect((await tail("--request", "call-refused")).data).toMatchObject([
    { request_id: "call-refused", route: "/api/v1/orders", status: 400, refusal: "validation" },
  ]);
  expect(statSync(log).mode & 0o777).toBe(0o600);
  const people = await run("logs", "tail", "--lines", "1", "--request", "call-order");
  expect(people).toMatchObject({ exitCode: 0, stderr: "" });
  expect(people.stdout).toMatch(
    /^[\d-]+ [\d:]+Z {2}info {3}POST \/api\/v1\/orders 201 in [\d.]+ ms .*request_id=call-order/,
  );

  const found = async (...filters: string[]) =>
    (await tail(...filters)).data.map(({ request_id, level, event }) => request_id ?? event ?? level);
  expect(await found("--status", "4xx")).toEqual(["call-refused"]);
  expect(await found("--status", "201", "--route", "POST /api/v1/orders")).toEqual(["call-order"]);
  expect(await found("--route", "GET /api/v1/orders")).toEqual([]);
  expect(await found("--partner", "acme", "--route", "/api/v1/ord")).toEqual(["call-order", "call-refused"]);
  expect(await found("--partner", "acm")).toEqual([]);
  expect(await found("--level", "error")).toEqual([]);
  expect((await run("logs", "tail", "--status", "6xx")).stderr).toContain("404 or a class such as 5xx");
  expect((await run("logs", "tail", "--level", "fatal")).stdout).toBe("The log that is kept has no such line.");

  const made = await json("find", "call-order");
  expect(made).toMatchObject({
    matched: expect.arrayContaining([expect.objectContaining({ kind: "order", status: expect.any(String) })]),
    timeline: expect.arrayContaining([expect.objectContaining({ kind: "order", request_id: "call-order" })]),
    log: [{ status: 201 }],
  });
  expect(await json("find", "call-refused")).toEqual({
    matched: [],
    timeline: [],
    truncated: [],
    ambiguous: false,
    log: [expect.objectContaining({ request_id: "call-refused", status: 400 })],
  });
  const refused = await run("find", "call-refused");
  expect(refused.stdout).toMatch(/^in the log of the daemon\n.*POST \/api\/v1\/orders 400 in .*refusal=validation/);
  expect(JSON.parse((await run("find", "call-nobody", "--json")).stdout).error.code).toBe("not_found");

  await daemon.stop();
  const { data } = await tail("--lines", "1000");
  expect(data.at(-1)).toMatchObject({ event: "stopped" });
  expect(JSON.stringify(data)).not.toContain(token.slice(-40));
});

test("tail prints new lines until Ctrl-C: exit code 130", async () => {
  const data = temporaryDirectory();
  const log = join(data, "logs", "serve.log");
  mkdirSync(join(data, "logs"));
  writeFileSync(log, '{"level":"info","time":"2026-03-01T11:59:59.000Z","msg":"earlier"}\n');
  const { printed, end } = launch(["logs", "tail", "--follow", "--data", data]);
  await printed("earlier");
  appendFileSync(
    log,
    '{"level":"error","time":"2026-03-01T12:00:00.000Z","msg":"a \\u001b[31mfault","err":{"message":"x"}}\n',
  );
  await printed("2026-03-01 12:00:00Z  error  a fault");
  const ended = await end("SIGINT");
  expect(ended).toMatchObject({ exitCode: 130, stderr: "" });
  expect(ended.stdout).not.toContain("\u001b");
});

test("a missing log and contradicting options are reported", async () => {
  const none = await esimctl(["logs", "tail", "--data", temporaryDirectory()]);
  expect(none).toMatchObject({ exitCode: 1, stdout: "" });
  expect(none.stderr).toMatch(/^error: There is no log in .*\n→ esimctl serve keeps it.*$/);
  const both = await esimctl(["logs", "tail", "--follow", "--json", "--data", temporaryDirectory()]);
  expect(both.exitCode).toBe(2);
});

test("the log of a database is in the user's log folder, under the database's name", async () => {
  const database = ["--database", "postgres://me:s3cret@db.example.com:5432/esim", "--key-file", "/none"];
  const ended = await esimctl(["logs", "tail", ...database], { env: { XDG_STATE_HOME: "/nowhere" } });
  expect(ended.stderr).toContain("There is no log in /nowhere/esimctl/db.example.com-5432-esim.");
});
