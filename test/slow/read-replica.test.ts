/** @module-tag slow */
import { sql } from "drizzle-orm";
import { expect, onTestFinished, test, vi } from "vitest";
import { systemClock } from "../../src/core/kernel/clock.ts";
import { randomIds } from "../../src/core/kernel/ids.ts";
import { readSetting, writeSettings } from "../../src/core/platform/settings.ts";
import { openStore } from "../../src/core/store/open/open.ts";
import type { ReplicaLook, ReplicaReads, Store, Tx } from "../../src/core/store/store.ts";
import { esimctlJson } from "../support/cli.ts";
import { startDaemon, targetOf } from "../support/daemon.ts";
import { onDatabase } from "../support/database.ts";
import { freePort } from "../support/free-port.ts";
import { HANG_MS } from "../support/hangs.ts";
import { type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { openShop } from "../support/shop.ts";
import { callerOf } from "../support/shop-caller.ts";
import { temporaryDirectory } from "../support/store.ts";

const masterKey = Buffer.alloc(32, 7);

async function servers() {
  const primary = await startPostgres();
  onTestFinished(() => primary.remove());
  const standby = async () => {
    const made = await primary.standby();
    onTestFinished(() => made.remove());
    return made;
  };
  return { primary, standby };
}

/** A store of a node; with a replica once that has what the primary has. */
async function node(url: string, replica?: string): Promise<Store> {
  const store = await openStore({ url, replica }, { clock: systemClock, ids: randomIds(), masterKey });
  onTestFinished(() => store.close());
  return store;
}

async function eventuallyIs(store: Store, state: ReplicaLook["state"]): Promise<ReplicaLook> {
  const look = () => (store.replica as ReplicaReads).look();
  await vi.waitFor(async () => expect(await look()).toMatchObject({ state }), HANG_MS);
  return look();
}

const remember = (tx: Tx, value: string) => writeSettings(tx, { public_url: value });
const remembered = (store: Store) => store.list(readSetting, "public_url");

/** Reads lists until one comes from the replica. */
async function readsFromReplica(store: Store): Promise<void> {
  const before = store.replica?.counted().replica ?? 0;
  await vi.waitFor(async () => {
    await remembered(store);
    expect(store.replica?.counted().replica).toBeGreaterThan(before);
  }, HANG_MS);
}

test("lists come from the replica and show what any node has just written", async () => {
  const { primary, standby } = await servers();
  const writer = await node(primary.url);
  const reader = await node(primary.url, (await standby()).url);
  await writer.write(remember, "http://first.test");
  expect(await remembered(reader)).toBe("http://first.test");
  expect(reader.replica?.counted()).toEqual({ replica: 0, primary: 1 });
  await eventuallyIs(reader, "used");
  await readsFromReplica(reader);
  for (let at = 0; at < 300; at++) {
    await (at % 2 === 0 ? writer : reader).write(remember, `http://${at}.test`);
    expect(await remembered(reader)).toBe(`http://${at}.test`);
  }
  const { replica = 0, primary: others = 0 } = reader.replica?.counted() ?? {};
  expect(replica).toBeGreaterThan(0);
  expect(replica + others).toBeGreaterThanOrEqual(301);
});

test("a replica that is behind, away or promoted is not used, and used again once it follows", async () => {
  const { primary, standby } = await servers();
  const replica = await standby();
  const store = await node(primary.url, replica.url);
  await store.write(remember, "http://before.test");
  await eventuallyIs(store, "used");
  await readsFromReplica(store);

  await onDatabase({ url: replica.url }, "SELECT pg_wal_replay_pause()");
  await store.write(remember, "http://behind.test");
  expect(await remembered(store)).toBe("http://behind.test");
  expect(await eventuallyIs(store, "behind")).toMatchObject({ lagMs: expect.any(Number) });
  await onDatabase({ url: replica.url }, "SELECT pg_wal_replay_resume()");
  await eventuallyIs(store, "used");
  await readsFromReplica(store);

  replica.suspend();
  await store.write(remember, "http://suspended.test");
  expect(await remembered(store)).toBe("http://suspended.test");
  expect(await eventuallyIs(store, "away")).toMatchObject({ lagMs: null });
  replica.resume();
  await eventuallyIs(store, "used");
  await replica.kill();
  await store.write(remember, "http://killed.test");
  expect(await remembered(store)).toBe("http://killed.test");
  await replica.start();
  await eventuallyIs(store, "used");
  await readsFromReplica(store);

  replica.promote();
  await eventuallyIs(store, "foreign");
  await store.write(remember, "http://promoted.test");
  const { counted } = store.replica as ReplicaReads;
  const before = counted().replica;
  expect(await remembered(store)).toBe("http://promoted.test");
  expect(counted().replica).toBe(before);
});

test("while all connections to the replica are in use the primary answers soon", async () => {
  const { primary, standby } = await servers();
  const replica = (await standby()).url;
  const given = { clock: systemClock, ids: randomIds(), masterKey, connections: 2 };
  const store = await openStore({ url: primary.url, replica }, given);
  onTestFinished(() => store.close());
  await store.write(remember, "http://busy.test");
  await eventuallyIs(store, "used");
  const held = Promise.withResolvers<void>();
  onTestFinished(() => held.resolve());
  const holding: Promise<void>[] = [];
  while (holding.length < 2) {
    const begun = Promise.withResolvers<boolean>();
    const reading = store.list(async (q) => {
      const [row] = await q.db.select({ isReplica: sql<boolean>`pg_is_in_recovery()` }).from(q.t.settings).limit(1);
      begun.resolve(row?.isReplica === true);
      if (row?.isReplica === true) await held.promise;
    }, null);
    if (await begun.promise) holding.push(reading);
  }
  const began = performance.now();
  const others = await Promise.all([remembered(store), remembered(store), remembered(store)]);
  // A connection that is in use is waited for 10 s elsewhere.
  expect(performance.now() - began).toBeLessThan(8_000);
  expect(others).toEqual(Array(3).fill("http://busy.test"));
  held.resolve();
  await Promise.all(holding);
  // What they had asked for went back.
  await readsFromReplica(store);
});

test("the primary itself is no replica, and neither are several servers", async () => {
  const { primary } = await servers();
  const store = await node(primary.url, primary.url);
  expect(await eventuallyIs(store, "foreign")).toMatchObject({ detail: expect.stringContaining("no hot standby") });
  expect(await remembered(store)).toBeNull();
  const { host } = new URL(primary.url);
  const several = primary.url.replace(host, `${host},${host}`);
  await expect(node(primary.url, several)).rejects.toThrow("has to name one replica");
});

test("after a failover a replica that still follows the old primary is not used, however far it is", async () => {
  const { primary, standby } = await servers();
  const [next, replica] = [await standby(), await standby()];
  const cluster = `postgres://tests@${[primary, next].map(({ port }) => `127.0.0.1:${port}`).join(",")}/postgres`;
  const store = await node(cluster, replica.url);
  await store.write(remember, "http://before.test");
  await eventuallyIs(store, "used");
  await vi.waitFor(async () => expect(await hasSetting(next, "http://before.test")).toBe(true), HANG_MS);

  next.suspend();
  await onDatabase(
    { url: primary.url },
    "CREATE TABLE ballast AS SELECT repeat('x', 900) FROM generate_series(1, 20000)",
  );
  await store.write(remember, "http://lost.test");
  await vi.waitFor(async () => expect(await hasSetting(replica, "http://lost.test")).toBe(true), HANG_MS);
  await primary.kill();
  next.resume();
  next.promote();
  await vi.waitFor(() => store.write(remember, "http://after.test"), HANG_MS);
  for (let read = 0; read < 20; read++) expect(await remembered(store)).toBe("http://after.test");
  const look = await (store.replica as ReplicaReads).look();
  expect(["behind", "foreign"]).toContain(look.state);
  for (let read = 0; read < 20; read++) expect(await remembered(store)).toBe("http://after.test");
});

const hasSetting = async (server: PostgresServer, value: string) =>
  (await server.rows(`SELECT 1 FROM settings WHERE value = '${value}'`)) === 1;

test("serve --read-database: a list has each new order; status, metrics, log and doctor show it", async () => {
  const { primary, standby } = await servers();
  const folder = temporaryDirectory();
  const shop = await openShop({ folder, url: primary.url, stock: { EU5: 50 }, priceCents: 5, fundsCents: 10_000 });
  const replica = await standby();
  const metricsPort = await freePort();
  const flags = ["--read-database", replica.url, "--metrics-port", String(metricsPort), "--workers", "2"];
  const daemon = await startDaemon({ ...shop.served, flags });
  await daemon.printed("replica_used");
  const { order, get } = await callerOf(shop, daemon.url);
  for (let at = 1; at <= 20; at++) {
    expect((await order(String(at))).status).toBe(201);
    expect((await get("/api/v1/orders?limit=100")).body.data).toHaveLength(at);
  }
  const metrics = async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  // On a busy machine the replica takes longer than a read waits for it.
  await vi.waitFor(async () => {
    expect((await get("/api/v1/products")).status).toBe(200);
    expect(await metrics()).toMatch(/esimctl_replica_reads_total\{server="replica"\} [1-9]/);
  }, HANG_MS);
  expect(await metrics()).toMatch(/esimctl_replica_lag_seconds \d/);
  const { args, env } = targetOf(shop.served);
  const shown = (replica: unknown) =>
    vi.waitFor(async () => {
      expect(await esimctlJson(["status", ...args], { env })).toMatchObject({ serving: { nodes: [{ replica }] } });
    }, HANG_MS);
  await shown({ state: "used", lag_ms: expect.any(Number) });

  await replica.kill();
  await daemon.printed('"state":"away"');
  expect((await get("/api/v1/orders?limit=100")).body.data).toHaveLength(20);
  await shown({ state: "away", lag_ms: null });
  expect(JSON.stringify(await esimctlJson(["doctor", ...args], { env }))).toContain("reads go to the primary");
  expect(daemon.text().split('"state":"away"')).toHaveLength(2);
  expect(await daemon.stop()).toMatchObject({ exitCode: 0 });
});
