import { statSync } from "node:fs";
import Database from "better-sqlite3";
import { expect, test, vi } from "vitest";
import type { Tx } from "../src/core/store/store.ts";
import { testClock } from "./support/clock.ts";
import { HANG_MS } from "./support/hangs.ts";
import { openTestStore } from "./support/store.ts";

const MIB = 1024 * 1024;

async function fill(tx: Tx, { key, bytes }: { key: string; bytes: number }): Promise<void> {
  await tx.db.insert(tx.t.settings).values({ key, value: "x".repeat(bytes) });
}

test("the WAL of a SQLite database shrinks again soon after a long read ends, without another write", async () => {
  const { store, location } = await openTestStore(testClock());
  if (!("file" in location)) throw new Error("this is about SQLite");
  const walSize = () => statSync(`${location.file}-wal`).size;
  const reader = new Database(location.file, { readonly: true });
  reader.exec("BEGIN");
  reader.prepare("SELECT count(*) FROM settings").get();
  for (let i = 0; i < 40; i++) await store.write(fill, { key: `w${i}`, bytes: MIB });
  expect(walSize()).toBeGreaterThan(40 * MIB);
  reader.exec("COMMIT");
  reader.close();
  await vi.waitFor(() => expect(walSize()).toBeLessThan(17 * MIB), HANG_MS);
});
