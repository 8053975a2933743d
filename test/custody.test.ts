import { randomBytes } from "node:crypto";
import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import Database from "better-sqlite3";
import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { openOrCreate } from "../src/cli/place/local-store.ts";
import { rotateAndReseal } from "../src/core/credentials/rotate-data-key.ts";
import { loadSigningKeys } from "../src/core/credentials/signing-keys.ts";
import { randomIds } from "../src/core/kernel/ids.ts";
import { listPassports } from "../src/core/passports/list.ts";
import { purgePassports } from "../src/core/passports/purge.ts";
import { type Location, openStore } from "../src/core/store/engines/open.ts";
import { isKeyUsed, sealedPlaces } from "../src/core/store/reseal.ts";
import type { Read, Store, Tx } from "../src/core/store/store.ts";
import { importRecords, passport } from "./support/passports.ts";
import { type Caller, startPlatform } from "./support/platform.ts";
import { onPostgres, temporaryDirectory } from "./support/store.ts";

/** Records whose every sensitive value stands nowhere else. */
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

/** Everything that the database holds, as somebody who stole it would read it. */
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

const fieldKeys = async (q: Read) =>
  (await q.db.select().from(q.t.dataKeys)).filter(({ purpose }) => purpose === "field").map(({ id }) => id);

const sealedUnder = async (q: Read) =>
  new Set((await q.db.select().from(q.t.passports)).map(({ sealed }) => q.vault.keyOf(sealed)));

test("the database alone gives away none of 1,000 imported numbers, birth dates and addresses", async () => {
  const { caller, location } = await startPlatform();
  const agent = await caller({ agent: true });
  await importAll(agent, people(1_000));
  const text = await dump(location);
  const found = (pattern: RegExp) => text.match(pattern)?.length ?? 0;
  expect(found(/Clearname\d{5}/g)).toBeGreaterThanOrEqual(1_000);
  for (const hidden of [/QZ\d{5}XK/g, /195\d-\d\d-\d\d/g, /Hidden/gi, /Suburbia/gi, /State\d/g, /\b9\d{5}\b/g]) {
    expect([hidden, found(hidden)]).toEqual([hidden, 0]);
  }
});

describe("rotation of the data key", () => {
  test("leaves all readable while others import and read, and the old key is gone afterwards", async () => {
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

  test("that was cut off goes on where it was, without a further key", async () => {
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

  test("reaches a process that asked nothing since: it reads what is new and seals under the new key", async () => {
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
    const seal = async (tx: Tx) => tx.vault.keyOf(tx.vault.seal("text"));
    expect(await sleepy.write(seal, null)).toBe(newest);
  });
});

test("what was read just before its key was dropped still opens", async () => {
  const { store, again } = await startPlatform();
  const sealed = await store.write(async (tx) => tx.vault.seal("text"), null);
  await rotation(await again());
  await store.epoch();
  expect(store.vault.currentKey()).not.toBe(store.vault.keyOf(sealed));
  expect(store.vault.open(sealed)).toBe("text");
});

test("every sealed column is reached by the rotation", () => {
  const places = sealedPlaces.map(({ table, column }) => `${table}.${column}`);
  expect(places).toEqual(expect.arrayContaining(["passports.sealed", "signingKeys.private_sealed"]));
});

test("a key file of another database is refused in words, and nothing is changed", async () => {
  const { location, clock, store } = await startPlatform();
  const keys = await store.read(fieldKeys, null);
  const opening = openStore(location, { clock, ids: randomIds(), masterKey: randomBytes(32) });
  await expect(opening).rejects.toThrow("The key file does not belong to this database.");
  expect(await store.read(fieldKeys, null)).toEqual(keys);
});

test("a database without its key file says that the file is missing, and gets no new one", async () => {
  const { location, clock } = await startPlatform();
  const directory = temporaryDirectory();
  const keyFile = join(directory, "esimctl.key");
  if ("file" in location) copyFileSync(location.file, join(directory, "esimctl.db"));
  const place =
    "url" in location
      ? { kind: "database" as const, url: location.url, keyFile, insecure: false }
      : { kind: "directory" as const, path: directory };
  await expect(openOrCreate(place, { clock, ids: randomIds() })).rejects.toThrow(`The key file ${keyFile} is missing.`);
  expect(existsSync(keyFile)).toBe(false);
});

test.skipIf(onPostgres)("what was purged is gone from the database file too", async () => {
  const { caller, location, clock, store, masterKey } = await startPlatform();
  const agent = await caller({ agent: true });
  const ids = await importRecords(agent, people(50));
  for (const id of ids) await agent.send("DELETE", `/api/v1/kyc/passports/${id}`);
  await store.write(purgePassports, { before: clock.now() + 1, limit: 1_000, actor: "operator" });
  const copy = join(temporaryDirectory(), "copy.db");
  if ("file" in location) {
    // Folds the write-ahead log into the file, as closing the last connection does.
    const raw = new Database(location.file);
    raw.pragma("wal_checkpoint(TRUNCATE)");
    raw.close();
    copyFileSync(location.file, copy);
  }
  expect(readFileSync(copy, "latin1")).not.toMatch(/Clearname/);
  const reopened = await openStore({ file: copy, create: false }, { clock, ids: randomIds(), masterKey });
  onTestFinished(() => reopened.close());
  expect(await reopened.read(async (q) => q.db.select().from(q.t.passports), null)).toEqual([]);
});
