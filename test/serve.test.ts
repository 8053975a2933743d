import { once } from "node:events";
import { closeSync, existsSync, openSync, rmSync, statSync, writeFileSync, writeSync } from "node:fs";
import { request } from "node:http";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import Database from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import { dataDirectory } from "../src/core/platform/data-directory.ts";
import type { Ended } from "./support/cli.ts";
import { refusedDaemon, refusedStart, startDaemon } from "./support/daemon.ts";
import { expectEndedPolls, waitingPolls } from "./support/feed.ts";
import { eventually } from "./support/hangs.ts";
import { forAllTests } from "./support/owner.ts";
import { call } from "./support/platform.ts";
import { openShop, shopToken } from "./support/shop.ts";
import { temporaryDirectory } from "./support/store.ts";
import { esimctl, esimctlJson } from "./support/warm.ts";

const SMALL = { stock: { EU5: 3 }, priceCents: 250, fundsCents: 1000 };

/** A data directory without a daemon. */
const smallShop = () => openShop({ folder: temporaryDirectory(), ...SMALL });

/** Exit 1, with one line of what happened and one of what to do, after warnings and a line of what was made. */
function expectRefusal({ exitCode, stdout, stderr }: Ended, happened: RegExp, hint: RegExp): void {
  const lines = stderr.trimEnd().split("\n");
  const [first, second, ...more] = lines.filter((line) => !/Running as root|^Made /.test(line));
  expect(first).toMatch(/^error: /);
  expect(first).toMatch(happened);
  expect(second).toMatch(/^→ /);
  expect(second).toMatch(hint);
  expect({ exitCode, stdout, more }).toEqual({ exitCode: 1, stdout: "", more: [] });
}

test("serve makes an absent data directory without demo data, prints its address, stops on SIGINT", {
  tags: ["slow"],
}, async () => {
  const data = join(temporaryDirectory(), "deep", "data");
  const daemon = await startDaemon({ data });
  expect(daemon.listening).toMatchObject({
    level: "info",
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    public_url: daemon.url,
  });
  expect(await call(`${daemon.url}/healthz`)).toMatchObject({ status: 200 });
  expect(await call(`${daemon.url}/readyz`)).toMatchObject({ status: 200, body: { status: "ready" } });
  const { databaseFile, keyFile } = dataDirectory(data);
  expect(existsSync(databaseFile)).toBe(true);
  expect(statSync(keyFile).mode & 0o777).toBe(0o600);
  expect(statSync(data).mode & 0o777).toBe(0o700);
  expect(await esimctlJson(["partners", "list", "--data", data])).toEqual({ data: [], count: 0 });
  expect(await esimctlJson(["stock", "list", "--data", data])).toMatchObject({ data: [], count: 0 });

  const { exitCode, stdout } = await daemon.stop("SIGINT");
  expect(exitCode).toBe(0);
  const lines = stdout.trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line).event ?? "request")).toContain("stopped");
});

/** A request of which the daemon has the head but, until `finish`, not the body. */
async function openRequest(url: string, body: unknown, headers: Record<string, string> = {}) {
  const payload = JSON.stringify(body);
  const sent = request(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(payload),
      expect: "100-continue",
      ...headers,
    },
  });
  const answered = once(sent, "response");
  sent.flushHeaders();
  await once(sent, "continue");
  return async () => {
    sent.end(payload);
    const [response] = await answered;
    return { status: response.statusCode, headers: response.headers, body: JSON.parse(await text(response)) };
  };
}

test("SIGTERM lets a request in flight finish, ends what else is open at once, and exits 0", {
  tags: ["slow"],
}, async () => {
  const shop = await smallShop();
  const { data, clientId, clientSecret } = shop;
  const daemon = await startDaemon({ data });
  const { hostname, port } = new URL(daemon.url);
  // A connection on which no request came yet.
  const unused = connect(Number(port), hostname).resume();
  const closed = once(unused, "close");
  await once(unused, "connect");
  const { answers } = await waitingPolls(daemon.url, await shopToken(shop, daemon.url));
  const grant = { grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret };
  const finish = await openRequest(`${daemon.url}/api/v1/oauth/token`, grant);
  const stopped = daemon.stop();
  await daemon.printed('"event":"stopping"');
  await expect(fetch(`${daemon.url}/healthz`)).rejects.toThrow();
  // The request below holds the daemon still.
  expectEndedPolls(await answers);
  // Cut off at the end of the grace, it would close together with the connection of the request.
  await closed;
  expect(await finish()).toMatchObject({
    status: 200,
    headers: { connection: "close" },
    body: { token_type: "Bearer" },
  });
  expect(await stopped).toMatchObject({ exitCode: 0, signal: null });
});

test("SIGTERM ends a bulk request that waits for another with 503, and lets the one being written finish", {
  tags: ["slow"],
}, async () => {
  const shop = await smallShop();
  const daemon = await startDaemon({ data: shop.data });
  const authorization = `Bearer ${await shopToken(shop, daemon.url)}`;
  const open = (external_order_id: string) => {
    const line_items = [{ product_id: shop.products.EU5, quantity: 1 }];
    const orders = [{ external_order_id, line_items, customer: { email: "mia@example.com", name: "Mia Chen" } }];
    return openRequest(`${daemon.url}/api/v1/orders/bulk`, { orders }, { authorization });
  };
  const names = ["one", "two"];
  const requests = [await open("one"), await open("two")];
  const writer = new Database(dataDirectory(shop.data).databaseFile);
  writer.exec("BEGIN IMMEDIATE");
  const responses = requests.map(async (finish, at) => ({ ...(await finish()), name: names[at] }));
  // The bodies were sent before this: they are read first. Either of them may be the first.
  await call(`${daemon.url}/healthz`);
  const stopped = daemon.stop();
  const refused = await Promise.race(responses);
  expect(refused).toMatchObject({ status: 503, body: { title: expect.any(String) } });
  writer.exec("ROLLBACK");
  writer.close();
  const written = (await Promise.all(responses)).find(({ name }) => name !== refused.name);
  expect(written).toMatchObject({ status: 200, body: { summary: { successful: 1, failed: 0 } } });
  expect(await stopped).toMatchObject({ exitCode: 0, signal: null });
  const orders = await esimctlJson(["orders", "list", "--data", shop.data]);
  expect(orders).toMatchObject({ data: [{ external_order_id: written?.name }] });
});

test("a second daemon on the same data directory is refused; after a kill the next one starts", {
  tags: ["slow"],
}, async () => {
  const data = join(temporaryDirectory(), "data");
  const daemon = await startDaemon({ data });
  expectRefusal(await refusedDaemon({ data }), /Another esimctl serve already runs on/, /Stop it first/);
  expect(await call(`${daemon.url}/healthz`)).toMatchObject({ status: 200 });
  expect(await daemon.kill()).toMatchObject({ exitCode: null, signal: "SIGKILL" });
  const next = await startDaemon({ data });
  expect(await call(`${next.url}/readyz`)).toMatchObject({ status: 200 });
});

test("a taken port is refused, for people and as JSON", { tags: ["slow"] }, async () => {
  const other = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void other.close());
  await once(other, "listening");
  const address = other.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const data = join(temporaryDirectory(), "data");
  const options = { data, ...(port === undefined ? {} : { port }) };
  expectRefusal(await refusedStart(options), new RegExp(`Port ${port} .* is taken`), /--port/);
  const { exitCode, stdout } = await refusedStart({ ...options, flags: ["--json"] });
  expect(exitCode).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    error: { code: "listen", message: expect.stringContaining("is taken"), hint: expect.stringContaining("--port") },
  });
});

test("a data directory that cannot be made or is of another program is refused", async () => {
  const folder = temporaryDirectory();
  writeFileSync(join(folder, "file"), "no directory");
  expectRefusal(
    await refusedStart({ data: join(folder, "file", "data") }),
    /Cannot write to .*data/,
    /Choose a directory you may write to/,
  );
  expectRefusal(await refusedStart({ data: folder }), /is not empty and holds no esimctl data/, /Choose an empty/);
  expect(existsSync(dataDirectory(folder).databaseFile)).toBe(false);
});

test("a database without its key file is refused and gets no new key", async () => {
  const { data } = await smallShop();
  const { keyFile } = dataDirectory(data);
  rmSync(keyFile);
  expectRefusal(await refusedStart({ data }), /key file .* is missing/, /backup/);
  expect(existsSync(keyFile)).toBe(false);
});

test("a damaged database is refused", async () => {
  const { data } = await smallShop();
  writeFileSync(dataDirectory(data).databaseFile, "this was a database once ".repeat(1000));
  expectRefusal(await refusedStart({ data }), /damaged/, /Restore a backup/);
});

test("damage in a large database, which is looked for beside serving it, ends the daemon", {
  tags: ["slow"],
}, async () => {
  const { data } = await smallShop();
  const { databaseFile } = dataDirectory(data);
  const database = new Database(databaseFile);
  database.exec("CREATE TABLE ballast (content blob)");
  for (let mib = 0; mib < 80; mib++) database.exec("INSERT INTO ballast VALUES (zeroblob(1024 * 1024))");
  database.close();
  const sound = await startDaemon({ data });
  expect((await fetch(`${sound.url}/readyz`)).status).toBe(200);
  await sound.stop();
  // A page within a row of the ballast that names no next page of it.
  const file = openSync(databaseFile, "r+");
  writeSync(file, Buffer.alloc(4, 0xff), 0, 4, 40 * 1024 * 1024);
  closeSync(file);
  const { exitCode, stdout, stderr } = await (await startDaemon({ data })).ended;
  expect(exitCode).toBe(1);
  expect(stdout).toMatch(/"event":"database_damaged"/);
  expect(`${stdout}${stderr}`).toMatch(/The database is damaged: .*Restore a backup/s);
});

test("a newer database is refused", async () => {
  const { data } = await smallShop();
  const database = new Database(dataDirectory(data).databaseFile);
  database.exec("INSERT INTO schema_history (name, digest) VALUES ('0999_from_the_future', 'abc')");
  database.close();
  expectRefusal(await refusedStart({ data }), /newer than this program: it has 0999_from_the_future/, /version/);
});

describe("terminal commands beside a daemon", () => {
  const served = forAllTests(async (owner) => {
    const shop = await openShop({ folder: temporaryDirectory(owner), ...SMALL });
    const flags = ["--public-url", "https://esim.example.com/shop/"];
    return { shop, daemon: await startDaemon({ data: shop.data, flags, owner }) };
  });

  test("a revoked credential is refused at the daemon's next request", async () => {
    const { shop, daemon } = served();
    const headers = { authorization: `Bearer ${await shopToken(shop, daemon.url)}` };
    const balance = () => call(`${daemon.url}/api/v1/balance`, { headers });
    expect(await balance()).toMatchObject({ status: 200 });
    expect(await balance()).toMatchObject({ status: 200 });
    await esimctlJson(["credentials", "revoke", shop.clientId, "--yes", "--data", shop.data]);
    expect(await balance()).toMatchObject({ status: 401, body: { title: expect.any(String), status: 401 } });
  });

  test("the public address is kept: commands print the links that the daemon serves", async () => {
    const { shop, daemon } = served();
    expect(daemon.listening).toMatchObject({ public_url: "https://esim.example.com/shop" });
    const at = ["--data", shop.data, "--partner", "acme"];
    const product = String(shop.products.EU5);
    const order = await esimctlJson(["orders", "create", "--product", product, "--quantity", "1", ...at]);
    const { id } = order as { id: string }; // the contract's Order
    const esims = () => esimctl(["orders", "esims", id, "--json", ...at]);
    await eventually(esims, ({ exitCode }) => exitCode === 0);
    const link = expect.stringMatching(/^https:\/\/esim\.example\.com\/shop\/.+\.png$/);
    expect(await esimctlJson(["orders", "esims", id, ...at])).toMatchObject({
      esims: [
        { qr_code_url: link, install_url: expect.stringMatching(/^https:\/\/esim\.example\.com\/shop\/install\//) },
      ],
    });
  });
});
