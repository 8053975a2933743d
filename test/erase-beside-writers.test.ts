import { once } from "node:events";
import { Worker } from "node:worker_threads";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { noteErasure } from "../src/core/store/stored-value.ts";
import { startPlatform } from "./support/platform.ts";
import type { ScratchWork } from "./support/scratch-writer.ts";
import { onPostgres } from "./support/store.ts";

test.skipIf(onPostgres)(
  "files are cleared of purged data beside a writer, and none of its rows change",
  { tags: ["slow"] },
  async () => {
    const { store, location } = await startPlatform();
    const file = "file" in location ? location.file : "";
    const database = new Database(file);
    database.exec("CREATE TABLE scratch (id integer PRIMARY KEY, text text NOT NULL)");
    const workerData: ScratchWork = { file, seed: 20261122 };
    const writer = new Worker(new URL("./support/scratch-writer.ts", import.meta.url), { workerData });
    await once(writer, "message");

    let erased = 0;
    for (let round = 0; round < 25; round++) {
      await store.write(noteErasure, undefined);
      if (await store.erase()) erased += 1;
    }
    const written = once(writer, "message");
    writer.postMessage("stop");
    const [rows] = await written;
    // Without a writer it ends at the first call.
    await store.write(noteErasure, undefined);
    expect(await store.erase()).toBe(true);
    expect(erased).toBeGreaterThan(0);
    expect(database.pragma("integrity_check", { simple: true })).toBe("ok");
    expect(database.prepare("SELECT id, text FROM scratch ORDER BY id").raw().all()).toEqual(rows);
    database.close();
  },
);
