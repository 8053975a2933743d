import { statSync } from "node:fs";
import Database from "better-sqlite3";
import { count, like } from "drizzle-orm";
import { expect, test, vi } from "vitest";
import type { Read, Tx } from "../src/core/store/store.ts";
import { testClock } from "./support/clock.ts";
import { HANG_MS } from "./support/hangs.ts";
import { openTestStore } from "./support/store.ts";

const MIB = 1024 * 1024;

async function fill(tx: Tx, { key, bytes }: { key: string; bytes: number }): Promise<void> {
  await tx.db.insert(tx.t.settings).values({ key, value: "x".repeat(bytes) });
}

async function filled(q: Read): Promise<number> {
  const [row] = await q.db.select({ many: count() }).from(q.t.settings).where(like(q.t.settings.key, "w%-%"));
  return row?.many ?? 0;
}

test("the WAL of a SQLite database shrinks again soon after a long read ends, without another write", async () => {
  const { store, location } = await openTestStore(testClock());
  if (!("file" in location)) throw new Error("this is about SQLite");
  const walSize = () => statSync(`${location.file}-wal`).size;
  const reader = new Database(location.file, { readonly: true });
  reader.exec("BEGIN");
  reader.prepare("SELECT count(*) FROM settings").get();
  for (let i = 0; i < 90; i++) await store.write(fill, { key: `w${i}`, bytes: MIB });
  expect(walSize()).toBeGreaterThan(90 * MIB);
  reader.exec("COMMIT");
  reader.close();
  await vi.waitFor(() => expect(walSize()).toBeLessThan(65 * MIB), HANG_MS);
});

test("the WAL of a SQLite database stays bounded while writes never pause, and reads go on", async () => {
  const { store, location } = await openTestStore(testClock());
  if (!("file" in location)) throw new Error("this is about SQLite");
  const { file } = location;
  const writes: string[] = [];
  let largest = 0;
  const caller = async (name: number) => {
    for (let at = 0; at < 12; at++) {
      const key = `w${name}-${at}`;
      await store.write(fill, { key, bytes: MIB / 8 });
      writes.push(key);
      largest = Math.max(largest, statSync(`${file}-wal`).size);
      if (at % 4 === 0) expect(await store.read(filled, null)).toBeGreaterThanOrEqual(writes.length);
    }
  };
  await Promise.all(Array.from({ length: 64 }, (_, name) => caller(name)));
  // 96 MiB were written.
  expect(largest).toBeLessThan(80 * MIB);
  await store.close();
  const database = new Database(file, { readonly: true });
  expect(database.pragma("integrity_check", { simple: true })).toBe("ok");
  expect(database.prepare("SELECT count(*) FROM settings WHERE key LIKE 'w%-%'").pluck().get()).toBe(writes.length);
  database.close();
});
