/** @module-tag slow */
import { expect, onTestFinished, test, vi } from "vitest";
import { createCredential } from "../../src/core/credentials/create.ts";
import { findPartner } from "../../src/core/partners/partner.ts";
import { WRITE_LOCK } from "../../src/core/store/postgres/session.ts";
import { slotOf } from "../../src/core/store/schema/lanes.ts";
import { addProducts, suppliedProducts } from "../support/catalog.ts";
import { esimctl, esimctlJson } from "../support/cli.ts";
import { commitCutter } from "../support/commit-cutter.ts";
import { type Daemon, launchServe, startDaemon, targetOf } from "../support/daemon.ts";
import { onDatabase, sessionOn } from "../support/database.ts";
import { HANG_MS } from "../support/hangs.ts";
import { addOrderersOfSlots } from "../support/lanes.ts";
import { type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { openShop, type Shop, withStoreOf } from "../support/shop.ts";
import { callerOf } from "../support/shop-caller.ts";
import { rewind, temporaryDirectory } from "../support/store.ts";
import { countingSupplier, useHttpSupplier } from "../support/supplies.ts";

/**
 * A silent database is noticed by two timers, of 1.5 s together: 2 s are promised, and as much again is for a busy
 * machine. No limit of a session or a socket ends a request so early.
 */
const NOTICED_MS = 4_000;
/** Less than the timers take: what is known to be away, or refuses connections, is not waited for. */
const AT_ONCE_MS = 1_400;

async function server(): Promise<PostgresServer> {
  const started = await startPostgres();
  onTestFinished(() => started.remove());
  return started;
}

function shopOn(url: string): Promise<Shop> {
  return openShop({ folder: temporaryDirectory(), url, stock: { EU5: 500 }, priceCents: 5, fundsCents: 1_000_000 });
}

const readyz = async ({ url }: Daemon) => (await fetch(`${url}/readyz`)).status;

async function took<T>(work: Promise<T>): Promise<{ value: T; ms: number }> {
  const began = performance.now();
  const value = await work;
  return { value, ms: performance.now() - began };
}

/** Sessions of a lock's mode that wait for other writes. */
const waitsFor = (mode: string) =>
  `SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND mode = '${mode}'`;

test("while PostgreSQL is suspended, killed and restarted requests get a 503 soon, and no order is lost", async () => {
  const postgres = await server();
  const shop = await shopOn(postgres.url);
  const daemon = await startDaemon(shop.served);
  const { order, get } = await callerOf(shop, daemon.url);
  expect((await order("before")).status).toBe(201);

  postgres.suspend();
  const amid = await Promise.all(["a", "b", "c"].map((key) => took(order(key))));
  const later = await Promise.all([took(order("d")), took(get("/api/v1/orders"))]);
  for (const { value } of [...amid, ...later]) expect(value.status).toBe(503);
  for (const { ms } of amid) expect(ms).toBeLessThan(NOTICED_MS);
  for (const { ms } of later) expect(ms).toBeLessThan(AT_ONCE_MS);
  expect(await readyz(daemon)).toBe(503);
  postgres.resume();
  await vi.waitFor(async () => expect(await readyz(daemon)).toBe(200), HANG_MS);
  for (const key of ["a", "b", "c", "d"]) expect([200, 201]).toContain((await order(key)).status);

  await postgres.kill();
  const refused = await took(order("e"));
  expect(refused.value.status).toBe(503);
  expect(refused.ms).toBeLessThan(AT_ONCE_MS);
  await postgres.start();
  await vi.waitFor(async () => expect((await order("e")).status).toBe(201), HANG_MS);
  expect((await get("/api/v1/orders?limit=100")).body.data).toHaveLength(6);

  postgres.suspend();
  const { value, ms } = await took(daemon.stop());
  expect(value).toMatchObject({ exitCode: 0, signal: null });
  expect(ms).toBeLessThan(30_000);
});

test("SIGTERM ends a node within 30 s while another session keeps the lock of all writes", async () => {
  const postgres = await server();
  const shop = await shopOn(postgres.url);
  const daemon = await startDaemon(shop.served);
  const { order, addWebhook } = await callerOf(shop, daemon.url);
  expect((await order("before")).status).toBe(201);
  const holder = await sessionOn(postgres.url);
  await holder.query(`SELECT pg_advisory_lock(${WRITE_LOCK})`);
  const waiting = [order("held"), addWebhook("https://hooks.example.net/held")];
  await vi.waitFor(async () => expect(await postgres.rows(waitsFor("ExclusiveLock"))).toBeGreaterThan(0), HANG_MS);
  const { value, ms } = await took(daemon.stop());
  expect(value).toMatchObject({ exitCode: 0, signal: null });
  expect(ms).toBeLessThan(30_000);
  for (const reply of await Promise.all(waiting)) expect(reply.status).toBe(503);
});

test("after a failover the node uses the server that takes writes, and no order is lost or doubled", async () => {
  const primary = await server();
  const shop = await shopOn(primary.url);
  const standby = await primary.standby();
  onTestFinished(() => standby.remove());
  const { host, pathname } = new URL(primary.url);
  const database = `postgres://tests@127.0.0.1:${standby.port},${host}${pathname}?target_session_attrs=read-write`;
  const daemon = await startDaemon({ ...shop.served, database });
  const { order, get } = await callerOf(shop, daemon.url);
  for (const key of ["a", "b"]) expect((await order(key)).status).toBe(201);
  await vi.waitFor(async () => expect(await standby.rows("SELECT FROM orders")).toBe(2), HANG_MS);

  primary.suspend();
  expect(await took(order("c"))).toMatchObject({ value: { status: 503 } });
  standby.promote();
  await vi.waitFor(async () => expect((await order("c")).status).toBe(201), HANG_MS);
  await vi.waitFor(async () => expect(await readyz(daemon)).toBe(200), HANG_MS);
  for (const key of ["a", "b", "c"]) expect((await order(key)).status).toBe(200);
  expect((await get("/api/v1/orders")).body.data).toHaveLength(3);
  expect(await daemon.stop()).toMatchObject({ exitCode: 0 });
});

/** Ten seconds at most by the limits of sessions; the rest is for a busy machine. */
const SUSPENDED_MS = 13_000;

/** A second partner of a shop, whose orders are of another slot. */
function otherPartner(shop: Shop): Promise<Shop> {
  return withStoreOf(shop, async (store) => {
    const acme = await store.read(findPartner, "acme");
    const slot = (key = "") => slotOf({ kind: "orders", key });
    const others = await addOrderersOfSlots(store, 2, 1_000_000);
    const other = others.find(({ partnerId }) => slot(partnerId) !== slot(acme?.id));
    const given = { partner: other?.slug ?? "", live: true, actor: "test" };
    const { client_id: clientId, client_secret: clientSecret } = await store.write(createCredential, given);
    return { ...shop, clientId, clientSecret };
  });
}

test("a node suspended with writes of several kinds pending stops those of others for 10 s at most", async () => {
  const postgres = await server();
  const shop = await shopOn(postgres.url);
  const second = await otherPartner(shop);
  const flags = ["--public-url", "http://esim.test"];
  const other = await startDaemon({ ...shop.served, flags });
  const callers = [await callerOf(shop, other.url), await callerOf(second, other.url)] as const;
  const cutter = await commitCutter(postgres.port);
  const suspended = await startDaemon({ ...shop.served, flags, database: cutter.urlOf(postgres.url) });
  const [first, behind] = [await callerOf(shop, suspended.url), await callerOf(second, suspended.url)];
  cutter.hold();
  const lost: Promise<unknown>[] = [first.order("held").catch(() => null)];
  await cutter.caught();
  // One that has to be alone waits for it, and those of another slot wait behind that one.
  lost.push(first.addWebhook("https://hooks.example.net/held").catch(() => null));
  await vi.waitFor(async () => expect(await postgres.rows(waitsFor("ExclusiveLock"))).toBeGreaterThan(0), HANG_MS);
  lost.push(behind.order("behind").catch(() => null));
  await vi.waitFor(async () => {
    expect(await postgres.rows(waitsFor("ExclusiveLock"))).toBeGreaterThan(0);
    expect(await postgres.rows(waitsFor("ShareLock"))).toBeGreaterThan(0);
  }, HANG_MS);
  suspended.child.kill("SIGSTOP");
  const writes = [
    ...callers.map((caller, at) => took(caller.order(`other-${at}`))),
    took(callers[0].addWebhook("https://hooks.example.net/other")),
  ];
  for (const { value, ms } of await Promise.all(writes)) {
    expect(value.status).toBe(201);
    expect(ms).toBeLessThan(SUSPENDED_MS);
  }
  expect(await readyz(other)).toBe(200);

  cutter.letGo();
  suspended.child.kill("SIGCONT");
  await Promise.all(lost);
  await vi.waitFor(async () => expect([200, 201]).toContain((await first.order("held")).status), HANG_MS);
});

test("a node suspended amid its migration stops the writes of others for 10 s at most", async () => {
  const postgres = await server();
  const shop = await shopOn(postgres.url);
  await rewind({ url: postgres.url }, "0019_sandbox_notices", [
    "ALTER TABLE sandbox_clocks DROP COLUMN notices_through",
    "ALTER TABLE event_feeds DROP COLUMN read_at",
  ]);
  const cutter = await commitCutter(postgres.port);
  cutter.hold();
  const migrating = launchServe({ ...shop.served, database: cutter.urlOf(postgres.url) });
  await cutter.caught();
  migrating.child.kill("SIGSTOP");
  const writer = await sessionOn(postgres.url);
  const { ms } = await took(writer.query(`SELECT pg_advisory_lock(${WRITE_LOCK})`));
  expect(ms).toBeLessThan(SUSPENDED_MS);
  await writer.query(`SELECT pg_advisory_unlock(${WRITE_LOCK})`);
  cutter.letGo();
  migrating.child.kill("SIGCONT");
  expect(await migrating.ended).toMatchObject({ exitCode: 1 });
  const daemon = await startDaemon(shop.served);
  expect(await readyz(daemon)).toBe(200);
});

test("while a suspended node holds up writes, /readyz and doctor of others show it", async () => {
  const postgres = await server();
  const shop = await shopOn(postgres.url);
  const flags = ["--public-url", "http://esim.test"];
  const other = await startDaemon({ ...shop.served, flags });
  const { order } = await callerOf(shop, other.url);
  const cutter = await commitCutter(postgres.port);
  // Its session is not ended while the others are asked.
  const database = `${cutter.urlOf(postgres.url)}?idle_in_transaction_session_timeout=${HANG_MS}`;
  const suspended = await startDaemon({ ...shop.served, flags, database });
  const caller = await callerOf(shop, suspended.url);
  cutter.hold();
  const lost = caller.order("suspended").catch(() => null);
  await cutter.caught();
  suspended.child.kill("SIGSTOP");
  const ordered = order("other");
  await vi.waitFor(async () => {
    expect(await (await fetch(`${other.url}/readyz`)).json()).toEqual({ status: "ready", writes: "held" });
  }, HANG_MS);
  const { args, env } = targetOf(shop.served);
  const { stdout } = await esimctl(["doctor", "--json", ...args], { env });
  expect(JSON.parse(stdout)).toMatchObject({ ok: false });
  expect(stdout).toMatch(/holds? up all writes/);

  cutter.letGo();
  suspended.child.kill("SIGCONT");
  // The COMMIT that was kept may have been another one of that node.
  expect([201, 503]).toContain((await lost)?.status);
  // It waited for fifteen seconds at most.
  expect([201, 503]).toContain((await ordered).status);
  await vi.waitFor(async () => expect([200, 201]).toContain((await order("other")).status), HANG_MS);
  expect(await readyz(other)).toBe(200);
});

test("orders survive lost responses to COMMIT: none is doubled, none has two references at its supplier", async () => {
  const postgres = await server();
  const shop = await shopOn(postgres.url);
  const supplier = await countingSupplier();
  const products = await withStoreOf(shop, async (store) => {
    await useHttpSupplier(store, "northwind", supplier.url);
    return addProducts(store, suppliedProducts);
  });
  const cutter = await commitCutter(postgres.port);
  const daemon = await startDaemon({ ...shop.served, database: cutter.urlOf(postgres.url) });
  const { order, get } = await callerOf(shop, daemon.url, products.API);
  cutter.cut(3);
  const statuses = new Set<number>();
  const ids = new Map<string, string>();
  const keys: string[] = [];
  async function place(key: string): Promise<void> {
    for (;;) {
      const { status, body } = await order(key);
      statuses.add(status);
      if (status === 200 || status === 201) return void ids.set(key, body.id);
    }
  }
  // Every third commit is cut: those of the first orders may be none of them, as workers commit too.
  while (keys.length < 24 || !statuses.has(503)) {
    const four = Array.from({ length: 4 }, (_, at) => `cut-${keys.length + at}`);
    keys.push(...four);
    await Promise.all(four.map(place));
  }
  // Leases whose claims were lost end, and attempts after a fault come due, as if two minutes went by.
  const later = () => onDatabase({ url: postgres.url }, TWO_MINUTES_ON);
  await vi.waitFor(async () => {
    await later();
    expect(supplier.references.size).toBeGreaterThan(4);
  }, HANG_MS);
  expect(cutter.count()).toBeGreaterThan(4);
  cutter.cut(0);

  await vi.waitFor(async () => {
    await later();
    const { data } = (await get("/api/v1/orders?limit=100")).body;
    expect(data.map((one: { status: string }) => one.status)).toEqual(keys.map(() => "fulfilled"));
  }, HANG_MS);
  expect(new Set(ids.values()).size).toBe(keys.length);
  expect([...statuses].filter((status) => ![200, 201, 503].includes(status))).toEqual([]);
  expect(supplier.references.size).toBe(keys.length);
  const { args, env } = targetOf(shop.served);
  expect(await esimctlJson(["wallet", "check", ...args], { env })).toMatchObject({ ok: true });
  expect(await daemon.stop()).toMatchObject({ exitCode: 0 });
});

const TWO_MINUTES_ON = `
  UPDATE order_items SET due_at = due_at - 120000, leased_until = leased_until - 120000 WHERE due_at IS NOT NULL;
  UPDATE orders SET due_at = due_at - 120000, leased_until = leased_until - 120000 WHERE due_at IS NOT NULL`;
