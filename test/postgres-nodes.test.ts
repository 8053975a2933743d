import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { sql } from "drizzle-orm";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { systemClock } from "../src/core/kernel/clock.ts";
import { randomIds } from "../src/core/kernel/ids.ts";
import { checkNodeClocks } from "../src/core/maintenance/state-checks.ts";
import { servingState } from "../src/core/platform/serving.ts";
import { readSetting, writeSettings } from "../src/core/platform/settings.ts";
import { migrationsOf } from "../src/core/store/migrations/migrate.ts";
import { openStore } from "../src/core/store/open/open.ts";
import { WRITE_LOCK } from "../src/core/store/postgres/session.ts";
import { readMasterKey } from "../src/core/store/sealing/key-files.ts";
import type { Read, Store, Tx } from "../src/core/store/store.ts";
import { startDaemon } from "./support/daemon.ts";
import { sessionOn } from "./support/database.ts";
import { HANG_MS } from "./support/hangs.ts";
import { call } from "./support/platform.ts";
import { pgbouncer, startPooler } from "./support/pooler.ts";
import { openShop, type Shop, shopToken } from "./support/shop.ts";
import { asBefore, freshPostgres, onPostgres, rewind, temporaryDirectory } from "./support/store.ts";

const masterKey = Buffer.alloc(32, 7);

/** A store as each node opens one, closed with the test. */
async function node(url: string, onWait?: (words: string) => void): Promise<Store> {
  const store = await openStore({ url }, { clock: systemClock, ids: randomIds(), masterKey, onWait });
  onTestFinished(() => store.close());
  return store;
}

function withSetting(url: string, name: string, value: string): string {
  const address = new URL(url);
  address.searchParams.set(name, value);
  return address.toString();
}

const remember = (tx: Tx, value: string) => writeSettings(tx, { public_url: value });

/** The server's settings of the session that reads. */
async function shown(q: Read, asked: string): Promise<unknown> {
  const [row] = await q.db
    .select({ value: sql`${sql.raw(asked)}` })
    .from(q.t.settings)
    .limit(1);
  return row?.value;
}

/** A write that takes longer was delayed, and not by a busy machine alone. */
const DELAYED_MS = 500;

/** When (s) the connections to a port of this machine are next asked whether the other end is there. */
function keepAliveTimers(port: number): number[] {
  const rows = readFileSync("/proc/net/tcp", "utf8").split("\n").slice(1);
  return rows.flatMap((row) => {
    const [, , remote = "", , , timer = ""] = row.trim().split(/\s+/);
    const [kind, ticks = ""] = timer.split(":");
    // 2: the timer of keep-alive; hundredths of a second.
    return parseInt(remote.split(":")[1] ?? "", 16) === port && kind === "02" ? [parseInt(ticks, 16) / 100] : [];
  });
}

const SESSIONS = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";

describe.runIf(onPostgres)("several nodes on one PostgreSQL", () => {
  test("a node that is suspended amid a write loses it, and the others continue to write", async () => {
    const { url } = await freshPostgres();
    const other = await node(url);
    // Five seconds by default; less here, so that the test need not wait.
    expect(await other.read(shown, "current_setting('idle_in_transaction_session_timeout')")).toBe("5s");
    const suspended = await node(withSetting(url, "idle_in_transaction_session_timeout", "500"));
    const begun = Promise.withResolvers<void>();
    const awake = Promise.withResolvers<void>();
    // To the server a suspended process looks like an idle one.
    const cutOff = suspended.write(async (tx) => {
      await remember(tx, "http://suspended.test");
      begun.resolve();
      await awake.promise;
    }, null);
    await begun.promise;
    await other.write(remember, "http://other.test");
    awake.resolve();
    await expect(cutOff).rejects.toMatchObject({ reason: "unreachable" });
    expect(await other.read(readSetting, "public_url")).toBe("http://other.test");

    await suspended.write(remember, "http://awake.test");
    expect(await other.read(readSetting, "public_url")).toBe("http://awake.test");
  });

  test("a statement, and a wait for a lock, end after a limit that the address can set", async () => {
    const { url } = await freshPostgres();
    const store = await node(url);
    expect(await store.read(shown, "current_setting('statement_timeout')")).toBe("30s");
    expect(await store.read(shown, "current_setting('lock_timeout')")).toBe("15s");
    const hasty = await node(withSetting(withSetting(url, "lock_timeout", "100"), "statement_timeout", "200"));
    await expect(hasty.read(shown, "pg_sleep(60)::text")).rejects.toMatchObject({ reason: "slow" });
    const holder = await sessionOn(url);
    await holder.query(`SELECT pg_advisory_lock(${WRITE_LOCK})`);
    await expect(hasty.write(remember, "http://hasty.test")).rejects.toMatchObject({ reason: "locked" });
    await holder.query(`SELECT pg_advisory_unlock(${WRITE_LOCK})`);
    await hasty.write(remember, "http://waited.test");
  });

  test.skipIf(process.platform !== "linux")(
    "both ends of a connection soon look whether the other is there",
    async () => {
      const { url } = await freshPostgres();
      const store = await node(url);
      for (const [setting, value] of Object.entries({ idle: "10", interval: "5", count: "3" })) {
        expect(await store.read(shown, `current_setting('tcp_keepalives_${setting}')`)).toBe(value);
      }
      expect(await store.read(shown, "current_setting('tcp_user_timeout')")).toBe("30000");
      await expect.poll(() => keepAliveTimers(Number(new URL(url).port)).length).toBeGreaterThan(0);
      // Two hours of the system else.
      expect(Math.max(...keepAliveTimers(Number(new URL(url).port)))).toBeLessThan(60);
    },
  );

  test("a migration waits briefly for other sessions, reports it, and does not block those behind it", async () => {
    const { url } = await freshPostgres();
    await asBefore({ url }, migrationsOf("postgres").slice(0, 3), []);
    const dump = await sessionOn(url);
    await dump.query("BEGIN");
    await dump.query("LOCK TABLE partners IN ACCESS SHARE MODE");
    const waits: string[] = [];
    const opening = node(url, (words) => waits.push(words));
    await vi.waitFor(() => expect(waits).toEqual([expect.stringContaining("trying again")]), HANG_MS);
    // While it waited for the table's lock, this would have waited behind it.
    expect((await (await sessionOn(url)).query("SELECT count(*) FROM partners")).rowCount).toBe(1);
    await dump.query("COMMIT");
    await (await opening).write(remember, "http://migrated.test");
  });

  test("a migration that waits for a table that is being dumped hardly delays writes of serving nodes", async () => {
    const { url } = await freshPostgres();
    const serving = await node(url);
    await rewind({ url }, "0019_sandbox_notices", [
      "ALTER TABLE sandbox_clocks DROP COLUMN notices_through",
      "ALTER TABLE event_feeds DROP COLUMN read_at",
    ]);
    const dump = await sessionOn(url);
    await dump.query("BEGIN");
    await dump.query("LOCK TABLE sandbox_clocks IN ACCESS SHARE MODE");
    const waits: string[] = [];
    const opening = node(url, (words) => waits.push(words));
    await vi.waitFor(() => expect(waits).not.toEqual([]), HANG_MS);
    const began = performance.now();
    let delayed = 0;
    for (const attempts = waits.length + 3; waits.length < attempts; ) {
      const asked = performance.now();
      await serving.write(remember, "http://serving.test");
      const took = performance.now() - asked;
      if (took > DELAYED_MS) delayed += took;
    }
    expect(waits[0]).toContain("trying again");
    // Two thirds of the time when an attempt waited for the table as long as for the lock of all writes.
    expect(delayed).toBeLessThan((performance.now() - began) / 3);
    await dump.query("COMMIT");
    await (await opening).write(remember, "http://migrated.test");
  });

  test("a node whose schema is up to date opens while another one writes", async () => {
    const { url } = await freshPostgres();
    await node(url);
    const writer = await sessionOn(url);
    await writer.query(`SELECT pg_advisory_lock(${WRITE_LOCK})`);
    expect(await (await node(url)).read(readSetting, "public_url")).toBeNull();
  });

  test.skipIf(pgbouncer === null)("an address of PgBouncer is refused with a message (needs PgBouncer)", async () => {
    const { url } = await freshPostgres();
    const pooler = await startPooler(url);
    const refused = (option: string) => ({
      message: `The ${option} address is that of a connection pooler, such as PgBouncer.`,
      hint: expect.stringContaining(`Name the server itself with ${option}`),
    });
    await expect(node(pooler)).rejects.toMatchObject(refused("--database"));
    const reading = openStore({ url, replica: pooler }, { clock: systemClock, ids: randomIds(), masterKey });
    await expect(reading).rejects.toMatchObject(refused("--read-database"));
  });

  test("a store keeps to its number of connections, and one too many is refused with a message", async () => {
    const { url } = await freshPostgres();
    const store = await openStore({ url }, { clock: systemClock, ids: randomIds(), masterKey, connections: 2 });
    onTestFinished(() => store.close());
    const other = await sessionOn(url);
    const open = async () => (await other.query(SESSIONS)).rowCount;
    await Promise.all(Array.from({ length: 20 }, () => store.read(shown, "pg_sleep(0.01)::text")));
    expect(await open()).toBe(2);
    const role = `r_${randomIds().uuid(0).replaceAll("-", "")}`;
    await other.query(`CREATE ROLE ${role} LOGIN CONNECTION LIMIT 0`);
    const limited = url.replace("//tests@", `//${role}@`);
    const refused = { reason: "exhausted", message: expect.stringContaining("no connection left") };
    await expect(node(limited)).rejects.toMatchObject(refused);
    await other.query(`DROP ROLE ${role}`);
  });

  test("a prepared statement is named after its text, so that sessions can be shared", async () => {
    const { url } = await freshPostgres();
    const store = await node(url);
    await store.write(remember, "http://named.test");
    await store.read(readSetting, "public_url");
    const all =
      "(SELECT string_agg(name || ' ' || encode(sha256(statement::bytea), 'hex'), ',') FROM pg_prepared_statements)";
    const named = String(await store.read(shown, all)).split(",");
    expect(named.length).toBeGreaterThan(0);
    for (const [name, digest] of named.map((line) => line.split(" "))) expect(name).toBe(`s_${digest?.slice(0, 40)}`);
  });
});

describe.runIf(onPostgres)("clocks of several nodes", () => {
  test("a node whose clock is off says so, takes no work, and is right again once its clock is", async () => {
    const folder = temporaryDirectory();
    const { url } = await freshPostgres();
    const shop = await openShop({ folder, url, stock: { EU5: 20 }, priceCents: 5, fundsCents: 1_000 });
    const clock = join(folder, "clock");
    writeFileSync(clock, "10000");
    const preload = pathToFileURL(join(import.meta.dirname, "support", "moved-clock.mjs")).href;
    const flags = ["--public-url", "http://esim.test"];
    const env = { NODE_OPTIONS: `--import=${preload}`, MOVED_CLOCK: clock };
    const off = await startDaemon({ ...shop.served, flags, env });
    await off.printed("clock_off");
    expect(await (await fetch(`${off.url}/readyz`)).json()).toMatchObject({ reason: "clock" });
    const store = await openStore({ url }, { clock: systemClock, ids: randomIds(), masterKey: keyOf(shop) });
    onTestFinished(() => store.close());
    const report = async () => ((await store.read(servingState, null)).nodes[0]?.clock_ahead_ms ?? 0) > 9_000;
    await vi.waitFor(async () => expect(await report()).toBe(true), HANG_MS);
    expect(await store.read(checkNodeClocks, null)).toMatchObject([{ level: "fault", check: "node_clock" }]);
    const headers = {
      authorization: `Bearer ${await shopToken(shop, off.url)}`,
      "content-type": "application/json",
      "idempotency-key": "one",
    };
    // More than is fulfilled as the order is created.
    const body = JSON.stringify({ line_items: [{ product_id: shop.products.EU5, quantity: 11 }] });
    const ordered = await call(`${off.url}/api/v1/orders`, { method: "POST", headers, body });
    expect(ordered.status).toBe(201);
    const shown = async () => (await call(`${off.url}/api/v1/orders/${ordered.body.id}`, { headers })).body.status;
    // Its workers look every second, and it records that it serves every ten.
    const seen = async () => (await store.read(servingState, null)).nodes[0]?.last_seen_at;
    const last = await seen();
    await vi.waitFor(async () => expect(await seen()).not.toBe(last), HANG_MS);
    expect(await shown()).toBe("paid");
    const right = await startDaemon({ ...shop.served, flags });
    await vi.waitFor(async () => expect(await shown()).toBe("fulfilled"), HANG_MS);
    expect((await fetch(`${right.url}/readyz`)).status).toBe(200);
    writeFileSync(clock, "0");
    await off.printed("clock_right");
    await vi.waitFor(async () => expect((await fetch(`${off.url}/readyz`)).status).toBe(200), HANG_MS);
  });
});

function keyOf({ served }: Shop): Buffer {
  return readMasterKey("keyFile" in served ? served.keyFile : "");
}
