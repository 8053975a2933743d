import { randomBytes } from "node:crypto";
import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import Database from "better-sqlite3";
import pg from "pg";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { openOrCreate } from "../src/cli/place/local-store.ts";
import { rotateAndReseal } from "../src/core/credentials/rotate-keys.ts";
import { loadSigningKeys } from "../src/core/credentials/signing-keys.ts";
import { purge as purgeOld } from "../src/core/erasure/purge.ts";
import { importStock } from "../src/core/esims/import-stock.ts";
import { luhnDigit } from "../src/core/kernel/check-digits.ts";
import { randomIds } from "../src/core/kernel/ids.ts";
import { listPassports } from "../src/core/passports/list.ts";
import { type Location, openStore } from "../src/core/store/open/open.ts";
import { isKeyUsed, sealedPlaces } from "../src/core/store/sealing/reseal.ts";
import type { Read, Store, Tx } from "../src/core/store/store.ts";
import { request } from "./support/activations.ts";
import { addProducts, suppliedProducts } from "./support/catalog.ts";
import { HANG_MS } from "./support/hangs.ts";
import { importRecords, passport } from "./support/passports.ts";
import { type Caller, startPlatform } from "./support/platform.ts";
import { settled } from "./support/pool.ts";
import { onPostgres, temporaryDirectory } from "./support/store.ts";
import { heldSupplier, placeOrder, supplyWorker, useHttpSupplier } from "./support/supplies.ts";

/** Records whose every sensitive value is unique to them. */
function people(count: number, from = 0) {
  return Array.from({ length: count }, (_, index) => {
    const mark = String(from + index).padStart(5, "0");
    const day = new Date(Date.UTC(1950, 0, 1) + (from + index) * 86_400_000).toISOString().slice(0, 10);
    return passport({
      last_name: `Clearname${mark}`,
      passport_no: `QZ${mark}XK`,
      date_of_birth: day,
      address: `${mark} Hidden Street`,
      suburb: `Suburbia${mark}`,
      state: `State${mark}`,
      postcode: `9${mark}`,
    });
  });
}

async function importAll(caller: Caller, records: unknown[]): Promise<void> {
  for (let at = 0; at < records.length; at += 200) await importRecords(caller, records.slice(at, at + 200));
}

/** The pool as its partner reads it, by number. */
async function wholePool(caller: Caller) {
  const records = new Map<string, Record<string, unknown>>();
  let cursor = "";
  do {
    const { body } = await caller.get(`/api/v1/kyc/passports?limit=200${cursor}`);
    for (const record of body.records) records.set(record.passport_no, record);
    cursor = body.pagination.has_more ? `&cursor=${body.pagination.next_cursor}` : "";
  } while (cursor !== "");
  return records;
}

/** Everything that the database holds, as a thief of its files would read it. */
async function dump(location: Location): Promise<string> {
  if ("file" in location) {
    const files = [location.file, `${location.file}-wal`].filter((file) => existsSync(file));
    return files.map((file) => readFileSync(file, "latin1")).join("\n");
  }
  const client = new pg.Client({ connectionString: location.url });
  await client.connect();
  const tables = await client.query("select tablename from pg_tables where schemaname = 'public'");
  const texts: string[] = [];
  for (const { tablename } of tables.rows) {
    const { rows } = await client.query(`select t::text as row from "${tablename}" t`);
    texts.push(...rows.map(({ row }) => String(row)));
  }
  await client.end();
  return texts.join("\n");
}

const rotation = (store: Store, more: Partial<Parameters<typeof rotateAndReseal>[1]> = {}) =>
  rotateAndReseal(store, { actor: "operator", rest: async () => void (await turn()), ...more });

const CELL = { column: "passports.sealed", row: "any" } as const;

const fieldKeys = async (q: Read) =>
  (await q.db.select().from(q.t.dataKeys)).filter(({ purpose }) => purpose === "cell").map(({ id }) => id);

const sealedUnder = async (q: Read) =>
  new Set((await q.db.select().from(q.t.passports)).map(({ sealed }) => q.vault.keyOf(sealed)));

test("the database alone reveals none of 1,000 imported numbers, birth dates and addresses", async () => {
  const { caller, location } = await startPlatform();
  const agent = await caller({ agent: true });
  await importAll(agent, people(1_000));
  const text = await dump(location);
  const found = (pattern: RegExp) => text.match(pattern)?.length ?? 0;
  for (const hidden of [
    /Clearname/gi,
    /QZ\d{5}XK/g,
    /195\d-\d\d-\d\d/g,
    /Hidden/gi,
    /Suburbia/gi,
    /State\d/g,
    /\b9\d{5}\b/g,
  ]) {
    expect([hidden, found(hidden)]).toEqual([hidden, 0]);
  }
});

test("the database alone reveals no code of an eSIM: in stock, sold, or delivered by a supplier", async () => {
  const { caller, fund, fulfill, location, store } = await startPlatform();
  const products = await addProducts(store, [...suppliedProducts, { sku: "EU5" }]);
  const stocked = iccids(30).map((iccid, index) => ({ iccid, ...codes(index) }));
  await store.write(importStock, { sku: "EU5", rows: stocked, actor: "test" });
  const buyer = await caller({ live: true });
  await fund(buyer.partnerId, 100_000);
  const sold = await placeOrder(buyer, products.EU5, 10);
  await fulfill();

  const supplier = await heldSupplier();
  const delivered = { iccid: "8944590004463637016", ...codes(77) };
  const activation_code = `LPA:1$${delivered.smdp_address}$${delivered.matching_id}`;
  const { iccid, confirmation_code } = delivered;
  supplier.answers({ outcome: "activated", esims: [{ iccid, activation_code, confirmation_code }] });
  await useHttpSupplier(store, "northwind", supplier.url);
  const supplied = await placeOrder(buyer, products.API);
  await settled(supplyWorker(store, Date.now));

  const shown = async (id: string) => (await buyer.get(`/api/v1/orders/${id}/esims`)).body.esims;
  expect(await shown(sold)).toMatchObject(stocked.slice(0, 10));
  expect(await shown(supplied)).toMatchObject([delivered]);
  const text = await dump(location);
  expect(text).toContain(stocked[29]?.iccid);
  expect(text.match(/hidden-\d+\.example|MATCH-\d+-HIDDEN|CODE-\d+-HIDDEN/g) ?? []).toEqual([]);
});

/** Codes that are unique to these eSIMs. */
const codes = (index: number) => ({
  smdp_address: `hidden-${index}.example`,
  matching_id: `MATCH-${index}-HIDDEN`,
  confirmation_code: `CODE-${index}-HIDDEN`,
});

const iccids = (count: number) =>
  Array.from({ length: count }, (_, index) => {
    const digits = `894410${String(index).padStart(12, "0")}`;
    return digits + luhnDigit(digits);
  });

describe("rotation of the data key", () => {
  test("keeps all data readable during imports and reads, and deletes the old key", { tags: ["slow"] }, async () => {
    const { caller, store, again } = await startPlatform();
    const agent = await caller({ agent: true });
    const before = people(600);
    await importAll(agent, before);
    const [oldKey] = await store.read(fieldKeys, null);
    const terminal = await again();

    const during = people(600, 600);
    let rotating = true;
    const reading = (async () => {
      while (rotating) expect((await agent.get("/api/v1/kyc/passports?limit=200")).status).toBe(200);
    })();
    const [result] = await Promise.all([rotation(terminal), importAll(agent, during)]);
    rotating = false;
    await reading;

    expect(result).toMatchObject({ resumed: false, finished: true, dropped: 1 });
    expect(result.resealed).toBeGreaterThanOrEqual(601);
    expect(await store.read(fieldKeys, null)).toEqual([result.keyId]);
    expect(await store.read(sealedUnder, null)).toEqual(new Set([result.keyId]));
    expect(await store.read((q) => isKeyUsed(q, oldKey ?? ""), null)).toBe(false);
    const pool = await wholePool(agent);
    for (const { passport_no, date_of_birth, address } of [...before, ...during]) {
      expect(pool.get(passport_no)).toMatchObject({ date_of_birth, address });
    }
    expect(await store.read(loadSigningKeys, null)).toHaveLength(1);
  });

  test("continues after an interruption, without another key", async () => {
    const { caller, store, again } = await startPlatform();
    const agent = await caller({ agent: true });
    await importAll(agent, people(450));
    const stop = new AbortController();
    const first = await rotation(await again(), {
      signal: stop.signal,
      progress: (resealed) => resealed > 200 && stop.abort(),
    });
    expect(first).toMatchObject({ resumed: false, finished: false, resealed: 201, dropped: 0 });
    expect(await store.read(fieldKeys, null)).toHaveLength(2);
    expect((await store.read(sealedUnder, null)).size).toBe(2);
    expect((await agent.get("/api/v1/kyc/passports?limit=200")).body.count).toBe(200);
    const second = await rotation(await again());
    expect(second).toMatchObject({ keyId: first.keyId, resumed: true, finished: true, dropped: 1 });
    expect(second.resealed).toBe(451 - 201);
    expect(await store.read(fieldKeys, null)).toEqual([first.keyId]);
  });

  test("reaches an idle process: it reads new values and seals under the new key", async () => {
    const { caller, store, again } = await startPlatform();
    const agent = await caller({ agent: true });
    await importAll(agent, people(3));
    const { partnerId } = agent;
    const idle = await again();
    const { keyId } = await rotation(store);
    const page = await idle.read(listPassports, { partnerId, environment: "sandbox", limit: 10 });
    expect(page.count).toBe(3);
    const sleepy = await again();
    const { keyId: newest } = await rotation(store);
    expect(newest).not.toBe(keyId);
    const seal = async (tx: Tx) => tx.vault.keyOf(tx.vault.seal("text", CELL));
    expect(await sleepy.write(seal, null)).toBe(newest);
  });
});

test("a value read just before its key was dropped still opens", async () => {
  const { store, again } = await startPlatform();
  const sealed = await store.write(async (tx) => tx.vault.seal("text", CELL), null);
  await rotation(await again());
  await store.epoch();
  expect(store.vault.currentKey()).not.toBe(store.vault.keyOf(sealed));
  expect(store.vault.open(sealed, CELL)).toBe("text");
});

test("every sealed column is reached by the rotation", () => {
  const places = sealedPlaces.map(({ table, column }) => `${table}.${column}`);
  expect(places).toEqual(expect.arrayContaining(["passports.sealed", "signingKeys.private_sealed"]));
});

test("a key file of another database is refused with a message, and nothing is changed", async () => {
  const { location, clock, store } = await startPlatform();
  const keys = await store.read(fieldKeys, null);
  const opening = openStore(location, { clock, ids: randomIds(), masterKey: randomBytes(32) });
  await expect(opening).rejects.toThrow("The master key does not belong to this database.");
  expect(await store.read(fieldKeys, null)).toEqual(keys);
});

test("a database without its key file reports the missing file, and gets no new one", async () => {
  const { location, clock } = await startPlatform();
  const directory = temporaryDirectory();
  const keyFile = join(directory, "esimctl.key");
  if ("file" in location) copyFileSync(location.file, join(directory, "esimctl.db"));
  const place =
    "url" in location
      ? { kind: "database" as const, url: location.url, keyFile, given: [], insecure: false }
      : { kind: "directory" as const, path: directory, given: [] };
  await expect(openOrCreate(place, { clock, ids: randomIds() })).rejects.toThrow(`The key file ${keyFile} is missing.`);
  expect(existsSync(keyFile)).toBe(false);
});

/** Every file that a SQLite database consists of. */
function bytesOf(location: Location): string {
  if (!("file" in location)) throw new Error("this is about SQLite");
  const files = ["", "-wal", "-shm"].map((ending) => location.file + ending).filter((file) => existsSync(file));
  return files.map((file) => readFileSync(file, "latin1")).join("\n");
}

/** The sealed texts of a table. */
const sealedIn = async (store: Store, table: "passports" | "activations") =>
  (await store.read(async (q) => q.db.select().from(q.t[table]), null)).flatMap(({ sealed }) => sealed ?? []);

/** What a sealed text is made of, where a long run of it is in a file. */
const SEALED_RUN = /[\w+/=.:-]{50,}/g;

/** How many of them are there, in part at least: the version and the id of the key are 40 characters. */
function found(texts: string[], bytes: string): number {
  // Most of a file's bytes are in no such run, and each text is looked for in all that is left.
  const runs = bytes.match(SEALED_RUN)?.join("\n") ?? "";
  return texts.filter((text) => {
    const parts = [text.slice(40, 90), text.slice(-50)];
    for (const part of parts) expect(part.match(SEALED_RUN)).toEqual([part]);
    return parts.some((part) => runs.includes(part));
  }).length;
}

describe.skipIf(onPostgres)("purged data is removed from every file of the database", () => {
  /** An agent whose pool has 600 passports of many sizes, some of them edited, every other one withdrawn. */
  async function withPool() {
    const platform = await startPlatform();
    const agent = await platform.caller({ agent: true });
    const records = people(600).map((person, index) => ({
      ...person,
      address: `${"Lane ".repeat((index * 7) % 37)}1`,
    }));
    await importAll(agent, records);
    const rows = await platform.store.read(
      async (q) => q.db.select({ id: q.t.passports.id }).from(q.t.passports),
      null,
    );
    for (const [index, { id }] of rows.entries()) {
      const path = `/api/v1/kyc/passports/${id}`;
      if (index % 5 === 0) await agent.send("PATCH", path, { suburb: "Longer than it was before ".repeat(3) });
      if (index % 2 === 0) await agent.send("DELETE", path);
    }
    return { ...platform, agent, purge: { before: platform.clock.now() + 1, actor: "operator", dryRun: false } };
  }

  test("when the command ends, while the daemon serves", { tags: ["slow"] }, async () => {
    const { store, location, again, purge } = await withPool();
    const before = await sealedIn(store, "passports");
    expect(found(before, bytesOf(location))).toBe(600);
    const terminal = await again();
    expect((await purgeOld(terminal, purge)).passports).toBe(300);
    expect(await terminal.erase()).toBe(true);
    const kept = new Set(await sealedIn(store, "passports"));
    const gone = before.filter((text) => !kept.has(text));
    expect(gone).toHaveLength(300);
    const bytes = bytesOf(location);
    expect([found(gone, bytes), found([...kept], bytes)]).toEqual([0, 300]);
  });

  test("with documents and PUKs of activations; an open reader delays it only until it ends", async () => {
    const { store, location, again, caller, clock } = await startPlatform();
    const partner = await caller();
    for (let made = 0; made < 20; made++) {
      const { body } = await partner.send("POST", "/api/v1/activations", request());
      await partner.send("POST", `/api/v1/activations/${body.id}/cancel`);
    }
    const before = await sealedIn(store, "activations");
    const reader = new Database("file" in location ? location.file : "", { readonly: true });
    reader.exec("BEGIN");
    reader.prepare("SELECT count(*) FROM activations").get();
    const terminal = await again();
    const old = { before: clock.now() + 1, actor: "operator", dryRun: false };
    expect((await purgeOld(terminal, old)).activations).toBe(20);
    expect(await terminal.erase()).toBe(false);
    await terminal.close();
    expect(found(before, bytesOf(location))).toBe(20);
    reader.exec("COMMIT");
    reader.close();
    // The store that stays open is the daemon's.
    await vi.waitFor(() => expect(found(before, bytesOf(location))).toBe(0), HANG_MS);
  }, 60_000);

  test("with values sealed under a key that a rotation deleted", { tags: ["slow"] }, async () => {
    const { store, location, again } = await withPool();
    const before = await sealedIn(store, "passports");
    const terminal = await again();
    expect(await rotation(terminal)).toMatchObject({ finished: true });
    expect(await terminal.erase()).toBe(true);
    expect(found(before, bytesOf(location))).toBe(0);
    expect(found(await sealedIn(store, "passports"), bytesOf(location))).toBe(600);
  });
});

test.skipIf(!onPostgres)(
  "a purge leaves no dead rows in the tables of PostgreSQL, once no reader sees them",
  async () => {
    const { caller, store, location, clock } = await startPlatform();
    const agent = await caller({ agent: true });
    const ids = await importRecords(agent, people(50));
    for (const id of ids) await agent.send("DELETE", `/api/v1/kyc/passports/${id}`);
    if (!("url" in location)) throw new Error("this is about PostgreSQL");
    const client = new pg.Client({ connectionString: location.url });
    await client.connect();
    onTestFinished(() => client.end());
    await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
    await client.query("SELECT count(*) FROM passports");
    await purgeOld(store, { before: clock.now() + 1, actor: "operator", dryRun: false });
    expect(await store.erase()).toBe(false);
    await client.query("COMMIT");
    expect(await store.erase()).toBe(true);
    const { rows } = await client.query("SELECT pg_relation_size('passports') AS bytes");
    expect(Number(rows[0]?.bytes)).toBe(0);
  },
);
