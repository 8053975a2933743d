import { execFileSync } from "node:child_process";
import Database from "better-sqlite3";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { dataDirectory } from "../src/core/platform/data-directory.ts";
import { esimctl } from "./support/cli.ts";
import { type Daemon, startDaemon, targetOf } from "./support/daemon.ts";
import { acceptConnections, cutConnections, onDatabase, refuseConnections, setReadOnly } from "./support/database.ts";
import { HANG_MS } from "./support/hangs.ts";
import type { Reply } from "./support/platform.ts";
import { openShop, requestToken } from "./support/shop.ts";
import { callerOf } from "./support/shop-caller.ts";
import { freshPostgres, onPostgres, temporaryDirectory } from "./support/store.ts";

const FUNDS = 1_000_000;

async function faultyShop() {
  const url = onPostgres ? (await freshPostgres()).url : undefined;
  const shop = await openShop({
    folder: temporaryDirectory(),
    url,
    stock: { EU5: 200 },
    priceCents: 5,
    fundsCents: FUNDS,
  });
  return { shop, url: url ?? "" };
}

/** A database that takes no writes, as when its disk is full, until `end`. */
interface Outage {
  start(): Promise<void>;
  end(): Promise<void>;
}

/** On PostgreSQL as the server reports it; on SQLite the operating system refuses the daemon's writes. */
async function diskFull(daemon: Daemon, url: string): Promise<Outage> {
  if (!onPostgres) {
    const limit = async (bytes: string) => {
      execFileSync("prlimit", ["--pid", String(daemon.pid), `--fsize=${bytes}:unlimited`]);
    };
    return { start: () => limit("1"), end: () => limit("unlimited") };
  }
  const operator = (statements: string) => onDatabase({ url }, statements);
  await operator(
    `CREATE FUNCTION full() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN RAISE EXCEPTION 'no space' USING ERRCODE = 'disk_full'; END $$`,
  );
  const tables = ["orders", "settings"];
  const each = async (statement: (table: string) => string) => operator(tables.map(statement).join(";"));
  return {
    start: () =>
      each((table) => `CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON ${table} EXECUTE FUNCTION full()`),
    end: () => each((table) => `DROP TRIGGER full_disk ON ${table}`),
  };
}

const readyz = async ({ url }: Daemon) => (await fetch(`${url}/readyz`)).status;

const unavailable = {
  status: 503,
  body: { type: expect.stringMatching(/\/docs\/errors\/unavailable$/), title: "Service Unavailable", status: 503 },
};

describe("a database that takes no writes", () => {
  test("causes a 503 and one log line, and requests succeed when it takes writes again", {
    tags: ["slow"],
  }, async () => {
    const { shop, url } = await faultyShop();
    const daemon = await startDaemon(shop.served);
    const { order, get } = await callerOf(shop, daemon.url);
    expect(await readyz(daemon)).toBe(200);
    const outage = await diskFull(daemon, url);
    await outage.start();
    const refused = await Promise.all(Array.from({ length: 40 }, (_, i) => order(`k${i}`)));
    for (const reply of refused) expect(reply).toMatchObject(unavailable);
    expect(Number(refused[0]?.headers.get("retry-after"))).toBeGreaterThan(0);
    await vi.waitFor(async () => expect(await readyz(daemon)).toBe(503), HANG_MS);
    expect((await get("/api/v1/orders")).body.data).toEqual([]);

    await outage.end();
    await daemon.printed("store_available");
    expect((await order("k0")).status).toBe(201);
    await vi.waitFor(async () => expect(await readyz(daemon)).toBe(200), HANG_MS);
    const { stdout, exitCode } = await daemon.stop();
    expect(exitCode).toBe(0);
    expect(stdout.match(/"store_unavailable"/g)).toHaveLength(1);
    expect(stdout.match(/"store_available"/g)).toHaveLength(1);
    expect(stdout).not.toMatch(/request failed|worker failed/);
  });
});

describe.runIf(!onPostgres)("SQLite", () => {
  test("a database that another process has locked is reported by message, by the terminal too", {
    tags: ["slow"],
  }, async () => {
    const { shop } = await faultyShop();
    const daemon = await startDaemon(shop.served);
    const { order } = await callerOf(shop, daemon.url);
    const other = new Database(dataDirectory(shop.data).databaseFile);
    onTestFinished(() => void other.close());
    other.exec("BEGIN IMMEDIATE");
    const credit = [
      "wallet",
      "credit",
      "--partner",
      "acme",
      "--amount",
      "1.00",
      "--currency",
      "AUD",
      "--data",
      shop.data,
    ];
    const [ordered, json, people] = await Promise.all([order("one"), esimctl([...credit, "--json"]), esimctl(credit)]);
    expect(ordered).toMatchObject(unavailable);
    expect(json.exitCode).toBe(1);
    expect(JSON.parse(json.stdout).error).toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("is locked by another process"),
      hint: expect.any(String),
    });
    expect(people).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("is locked by another process") });
    other.exec("ROLLBACK");
    expect((await order("one")).status).toBe(201);
    expect(await daemon.stop()).toMatchObject({ exitCode: 0 });
  });
});

describe.runIf(onPostgres)("PostgreSQL", () => {
  test("a node survives the loss of all its connections, and no order is lost or doubled", async () => {
    const { shop, url } = await faultyShop();
    const daemon = await startDaemon(shop.served);
    const { order, get } = await callerOf(shop, daemon.url);
    const statuses = new Set<number>();
    let writing = true;
    async function until(ask: () => Promise<Reply>, wanted: number[]): Promise<Reply> {
      for (;;) {
        const reply = await ask();
        statuses.add(reply.status);
        if (wanted.includes(reply.status)) return reply;
      }
    }
    async function reader(): Promise<void> {
      while (writing) await until(() => get("/api/v1/orders"), [200]);
    }
    async function writer(name: string): Promise<void> {
      for (let i = 0; i < 20; i++) {
        const ordered = until(() => order(`${name}-${i}`), [200, 201]);
        if (i % 4 === 0) await cutConnections(url);
        await ordered;
      }
    }
    const reading = [reader(), reader()];
    await Promise.all(["a", "b", "c", "d"].map(writer));
    writing = false;
    await Promise.all(reading);

    const { body } = await until(() => get("/api/v1/orders?limit=100"), [200]);
    expect(body.data).toHaveLength(80);
    expect([...statuses].filter((status) => ![200, 201, 503].includes(status))).toEqual([]);
    expect(await daemon.stop()).toMatchObject({ exitCode: 0, signal: null });
  });

  test("a server that refuses connections causes a 503, and a message of the terminal", async () => {
    const { shop, url } = await faultyShop();
    const daemon = await startDaemon(shop.served);
    const { order, get } = await callerOf(shop, daemon.url);
    await refuseConnections(url);
    await daemon.printed("store_unavailable");
    expect(await get("/api/v1/orders")).toMatchObject(unavailable);
    expect(await readyz(daemon)).toBe(503);
    const token = await requestToken(shop, daemon.url);
    expect(token).toMatchObject({ status: 503, body: { error: "server_error" } });
    expect(Number(token.headers.get("retry-after"))).toBeGreaterThan(0);
    const { args, env } = targetOf(shop.served);
    const listed = await esimctl(["partners", "list", "--json", ...args], { env: { HOME: String(env.HOME) } });
    expect(listed.exitCode).toBe(1);
    expect(JSON.parse(listed.stdout).error).toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("cannot be reached"),
    });
    await acceptConnections(url);
    await daemon.printed("store_available");
    expect((await order("one")).status).toBe(201);
    expect(await daemon.stop()).toMatchObject({ exitCode: 0 });
  });

  test("a server that became read-only still answers reads, and is not ready", async () => {
    const { shop, url } = await faultyShop();
    const daemon = await startDaemon(shop.served);
    const { order, get } = await callerOf(shop, daemon.url);
    await setReadOnly(url, true);
    await vi.waitFor(async () => expect(await readyz(daemon)).toBe(503), HANG_MS);
    expect(await order("one")).toMatchObject(unavailable);
    await vi.waitFor(async () => expect((await get("/api/v1/orders")).status).toBe(200), HANG_MS);
    await setReadOnly(url, false);
    await vi.waitFor(async () => expect((await order("one")).status).toBe(201), HANG_MS);
    await vi.waitFor(async () => expect(await readyz(daemon)).toBe(200), HANG_MS);
    expect(await daemon.stop()).toMatchObject({ exitCode: 0 });
  });
});
