import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import Database from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import type { SyncFile } from "../src/core/store/engines/wal-sync.ts";
import { insertRow } from "../src/core/store/rows.ts";
import type { Read, Tx } from "../src/core/store/store.ts";
import { testClock } from "./support/clock.ts";
import { heldSync } from "./support/held-sync.ts";
import { seeded } from "./support/random.ts";
import { onPostgres, openTestStore, temporaryDirectory } from "./support/store.ts";

const note = (tx: Tx, key: string) => insertRow(tx, "settings", { key: `note ${key}`, value: "kept" });

/** The same, and a change of reference data. */
async function touch(tx: Tx, key: string): Promise<void> {
  await note(tx, key);
  await tx.touch();
}

async function notes(q: Read): Promise<string[]> {
  const rows = await q.db.select().from(q.t.settings);
  return rows.flatMap(({ key }) => (key.startsWith("note ") ? [key.slice(5)] : [])).sort();
}

/** A store on a file whose disk is `sync`. */
async function openOn(sync: SyncFile) {
  const { store, location, again } = await openTestStore(testClock(), sync);
  if (!("file" in location)) throw new Error("this is about SQLite");
  return { store, file: location.file, again, read: () => store.read(notes, null) };
}

/** Whether `promise` has settled after everything that can run without its disk has run. */
async function settles(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const end = () => {
    settled = true;
  };
  promise.then(end, end);
  for (let turn = 0; turn < 100; turn++) await nextTurn();
  return settled;
}

describe.runIf(!onPostgres)("on a SQLite database that one process serves", () => {
  test("a write is answered when its sync has ended, and until then reads see the state before it", async () => {
    const disk = heldSync();
    const { store, read } = await openOn(disk.sync);
    const epoch = await store.epoch();
    disk.hold();
    const written = store.write(touch, "a");
    await disk.begun();
    expect(await settles(written)).toBe(false);
    expect(await read()).toEqual([]);
    expect(await store.epoch()).toBe(epoch);
    disk.end();
    await written;
    expect(await read()).toEqual(["a"]);
    expect(await store.epoch()).toBe(epoch + 1);
  });

  test("the state is the same only while no process commits, and unknown until a commit is durable", async () => {
    const disk = heldSync();
    const { store, again } = await openOn(disk.sync);
    const other = await again();
    const before = await store.state();
    expect(before).not.toBeNull();
    expect(await store.state()).toBe(before);
    await other.write(note, "a");
    const after = await store.state();
    expect(after).not.toBeNull();
    expect(after).not.toBe(before);
    disk.hold();
    const written = store.write(note, "b");
    await disk.begun();
    expect(await store.state()).toBeNull();
    disk.end();
    await written;
    await expect.poll(() => store.state()).not.toBeNull();
    expect(await store.state()).not.toBe(after);
  });

  test("a sync covers what was committed before it, and the next one what was committed meanwhile", async () => {
    const disk = heldSync();
    const { store, read } = await openOn(disk.sync);
    disk.hold();
    const first = store.write(note, "a");
    await disk.begun();
    const second = store.write(note, "b");
    const before = disk.count();
    expect(await settles(second)).toBe(false);
    expect(disk.count()).toBe(before);
    disk.end();
    await first;
    await disk.begun();
    // `b` is committed and not durable yet.
    expect(await read()).toEqual(["a"]);
    expect(await settles(second)).toBe(false);
    disk.end();
    await second;
    expect(await read()).toEqual(["a", "b"]);
    expect(disk.count()).toBe(before + 1);
  });

  test("beside a sync one batch is made and no further one, and it takes all writes that come", async () => {
    const disk = heldSync();
    const { store } = await openOn(disk.sync);
    const ran: number[] = [];
    const run = async (tx: Tx, at: number) => {
      ran.push(at);
      await note(tx, String(at));
    };
    disk.hold();
    const writes = [store.write(run, 0)];
    await disk.begun();
    for (let at = 1; at <= 50; at++) {
      writes.push(store.write(run, at));
      await settles(nextTurn());
    }
    expect(ran).toEqual([0, 1]);
    const before = disk.count();
    disk.free();
    await Promise.all(writes);
    expect(ran).toHaveLength(51);
    // Two, or some more on a busy machine, where a batch ends after a while.
    expect(disk.count()).toBeLessThan(before + 10);
  });

  test("what a command saw of a write that is not durable is not answered before it is", async () => {
    const disk = heldSync();
    const { store } = await openOn(disk.sync);
    disk.hold();
    const written = store.write(note, "a");
    await disk.begun();
    const saw = store.write(notes, null);
    const refused = store.write(async (tx: Tx) => {
      throw new Error(`${await notes(tx)} is there`);
    }, null);
    const rehearsed = store.rehearse(notes, null);
    const all = Promise.allSettled([saw, refused, rehearsed]);
    expect(await settles(Promise.race([saw, refused, rehearsed].map((each) => each.catch(() => null))))).toBe(false);
    disk.free();
    await written;
    expect(await all).toMatchObject([{ value: ["a"] }, { reason: { message: "a is there" } }, { value: ["a"] }]);
  });

  test("a worker is signalled when the commit that made its work is durable", async () => {
    const disk = heldSync();
    const { store } = await openOn(disk.sync);
    let signals = 0;
    store.onSignal("deliveries", () => {
      signals += 1;
    });
    disk.hold();
    const written = store.write(async (tx: Tx) => {
      await note(tx, "a");
      tx.signal("deliveries");
    }, null);
    await disk.begun();
    await settles(written);
    expect(signals).toBe(0);
    disk.free();
    await written;
    expect(signals).toBe(1);
  });

  test("what another process committed is seen by the next read, which waits for the sync under way", async () => {
    const disk = heldSync();
    const { store, read, file } = await openOn(disk.sync);
    const epoch = await store.epoch();
    const other = new Database(file);
    onTestFinished(() => void other.close());
    disk.hold();
    const written = store.write(note, "a");
    await disk.begun();
    other.exec("INSERT INTO settings VALUES ('note other', 'kept')");
    other.exec("UPDATE settings SET value = value + 1 WHERE key = 'epoch'");
    const [seen, changed] = [read(), store.epoch()];
    expect(await settles(Promise.race([seen, changed]))).toBe(false);
    disk.free();
    expect(await seen).toEqual(["a", "other"]);
    expect(await changed).toBe(epoch + 1);
    await written;
  });

  test("an answered write is visible to each read that begins after it, and snapshots stay whole", async () => {
    const random = seeded(14);
    const { store } = await openOn(async () => {
      for (let turns = random() * 8; turns > 0; turns--) await nextTurn();
    });
    const pair = async (tx: Tx, key: string) => {
      await note(tx, `${key} one`);
      await note(tx, `${key} two`);
    };
    const answered = new Set<string>();
    const caller = async (name: number) => {
      for (let at = 0; at < 8; at++) {
        await store.write(pair, `${name}-${at}`);
        answered.add(`${name}-${at}`);
        const before = [...answered];
        const seen = new Set(await store.read(notes, null));
        expect(seen.size % 2).toBe(0);
        expect(before.filter((key) => !seen.has(`${key} two`))).toEqual([]);
      }
    };
    await Promise.all(Array.from({ length: 24 }, (_, name) => caller(name)));
  });

  test("after a power cut at any sync, what was answered is there", async () => {
    const folder = temporaryDirectory();
    let file = "";
    const answered: string[] = [];
    let cuts = 0;
    const expectKept = (wal: Buffer) => {
      // The disk as it is when all that no sync covered is lost.
      const copy = join(folder, `cut-${++cuts}.db`);
      copyFileSync(file, copy);
      writeFileSync(`${copy}-wal`, wal);
      const found = new Database(copy);
      const kept = found.prepare("SELECT substr(key, 6) FROM settings WHERE key LIKE 'note %'").pluck().all();
      expect(found.pragma("integrity_check", { simple: true })).toBe("ok");
      found.close();
      expect(kept).toEqual(expect.arrayContaining(answered));
    };
    let durable: Buffer | null = null;
    const opened = await openOn(async () => {
      // The sync under way is lost too: only the one before it has ended.
      if (durable !== null && cuts < 40) expectKept(durable);
      if (file === "") return;
      const wal = readFileSync(`${file}-wal`);
      await nextTurn();
      durable = wal;
    });
    const { store } = opened;
    file = opened.file;
    const caller = async (name: number) => {
      for (let at = 0; at < 20; at++) {
        await store.write(note, `${name}-${at}`);
        answered.push(`${name}-${at}`);
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, name) => caller(name)));
    expect(cuts).toBeGreaterThan(10);
    expect(answered).toHaveLength(160);
  });

  test("a failed sync fails the writes that wait for it, and none is made before a restart", async () => {
    const disk = heldSync();
    const { store, read, file, again } = await openOn(disk.sync);
    await store.write(note, "before");
    disk.hold();
    const first = store.write(note, "a");
    await disk.begun();
    const second = store.write(note, "b");
    const ended = Promise.allSettled([first, second]);
    expect(await settles(first)).toBe(false);
    disk.end(Object.assign(new Error("i/o error"), { code: "EIO" }));
    const unavailable = { code: "unavailable", reason: "unreachable", message: expect.stringContaining("EIO") };
    expect(await ended).toMatchObject([
      { status: "rejected", reason: unavailable },
      { status: "rejected", reason: unavailable },
    ]);
    disk.free();
    await expect(store.write(note, "c")).rejects.toMatchObject(unavailable);
    expect(await read()).toEqual(["before"]);
    // Another process' change cannot be read without ours any more.
    const other = new Database(file);
    other.exec("INSERT INTO settings VALUES ('note other', 'kept')");
    other.close();
    await expect(read()).rejects.toMatchObject(unavailable);
    await store.close();
    expect(existsSync(`${file}-wal`)).toBe(true);
    const restarted = await again();
    await restarted.write(note, "after");
    expect(await restarted.read(notes, null)).toEqual(expect.arrayContaining(["after", "before", "other"]));
  });
});
