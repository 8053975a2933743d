import type pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../src/core/kernel/clock.ts";
import { randomIds } from "../src/core/kernel/ids.ts";
import { readSetting, writeSettings } from "../src/core/platform/settings.ts";
import { openStore } from "../src/core/store/open/open.ts";
import { WRITE_LOCK } from "../src/core/store/postgres/session.ts";
import type { Command, Store, Tx } from "../src/core/store/store.ts";
import { sessionOn } from "./support/database.ts";
import { freshPostgres, onPostgres } from "./support/store.ts";

const masterKey = Buffer.alloc(32, 7);

async function nodeOn(url: string, options = ""): Promise<Store> {
  const address = new URL(url);
  if (options !== "") address.searchParams.set("options", options);
  const store = await openStore({ url: address.toString() }, { clock: systemClock, ids: randomIds(), masterKey });
  onTestFinished(() => store.close());
  return store;
}

/** A command of the lane of a partner's orders. */
function inLane<O>(work: (tx: Tx) => Promise<O>): Command<null, O> {
  return Object.assign((tx: Tx) => work(tx), { lane: () => ({ kind: "orders" as const, key: "acme" }) });
}

const address = (name: string) => `http://${name}.test`;

/** Since when writes of this database wait for the lock of another one. */
const WAITS = `SELECT waitstart::text AS since FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
  AND waitstart IS NOT NULL AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

/** Keeps the event loop from everything else. */
function blockFor(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

describe.runIf(onPostgres)("a write that waits on PostgreSQL", () => {
  const remember = (tx: Tx) => writeSettings(tx, { public_url: address("waited") });
  const kinds = { alone: remember, "of a lane": inLane(remember) };

  test.each(Object.entries(kinds))("%s waits again and again for a lock, and is written", async (_, command) => {
    const { url } = await freshPostgres();
    const store = await nodeOn(url);
    const holder = await sessionOn(url);
    await holder.query(`SELECT pg_advisory_lock(${WRITE_LOCK})`);
    const written = store.write(command, null);
    const since = new Set<string>();
    await expect
      .poll(async () => {
        for (const row of (await holder.query(WAITS)).rows) since.add(row.since);
        return since.size;
      })
      .toBeGreaterThan(2);
    await holder.query(`SELECT pg_advisory_unlock(${WRITE_LOCK})`);
    await written;
    expect(await store.read(readSetting, "public_url")).toBe(address("waited"));
  });

  test("is refused within a few seconds when its store is closed", async () => {
    const { url } = await freshPostgres();
    const store = await nodeOn(url);
    const holder = await sessionOn(url);
    await holder.query(`SELECT pg_advisory_lock(${WRITE_LOCK})`);
    const refused = expect(store.write(remember, null)).rejects.toMatchObject({ code: "unavailable" });
    await expect.poll(async () => (await holder.query(WAITS)).rowCount).toBe(1);
    await store.close();
    await refused;
    await holder.query(`SELECT pg_advisory_unlock(${WRITE_LOCK})`);
    expect(await (await nodeOn(url)).read(readSetting, "public_url")).toBeNull();
  });

  test("is not cut off while its process is busy for seconds", async () => {
    const { url } = await freshPostgres();
    const store = await nodeOn(url);
    await store.write(async (tx: Tx) => {
      await remember(tx);
      await readSetting(tx, "public_url");
      blockFor(2_500);
    }, null);
    expect(await store.read(readSetting, "public_url")).toBe(address("waited"));
  });
});

const conflicts = {
  "a deadlock": {
    // So that it is the write that finds it.
    options: "-c deadlock_timeout=50ms",
    async meet(other: pg.Client) {
      await other.query("SET deadlock_timeout = '1h'");
      await other.query("BEGIN");
      await other.query("UPDATE settings SET value = value WHERE key = 'docs_url'");
      const waiting = other.query("UPDATE settings SET value = value WHERE key = 'public_url'");
      return () => waiting.then(() => other.query("COMMIT"));
    },
  },
  "a serialization failure": {
    options: "-c default_transaction_isolation=repeatable\\ read",
    async meet(other: pg.Client) {
      await other.query("UPDATE settings SET value = value WHERE key = 'docs_url'");
      return async () => undefined;
    },
  },
};

const WAITING_FOR_ROWS = `SELECT FROM pg_stat_activity WHERE wait_event = 'transactionid'
  AND datname = current_database()`;

const HELD_ALONE = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND mode = 'ExclusiveLock'
  AND objid = ${WRITE_LOCK} AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

describe.runIf(onPostgres)("a write of a lane that fails since others are under way", () => {
  test.each(Object.entries(conflicts))(
    "%s is repeated, at last alone, and its caller gets its result",
    async (name, given) => {
      const { url } = await freshPostgres();
      const store = await nodeOn(url, given.options);
      const [other, watching] = [await sessionOn(url), await sessionOn(url)];
      await store.write((tx: Tx) => writeSettings(tx, { public_url: address("old"), docs_url: address("old") }), null);
      const alone: boolean[] = [];
      let others = Promise.resolve<unknown>(null);
      const result = await store.write(
        inLane(async (tx) => {
          const run = alone.length + 1;
          await writeSettings(tx, { public_url: address(`run-${run}`) });
          await readSetting(tx, "public_url");
          alone.push((await watching.query(HELD_ALONE)).rowCount === 1);
          if (!alone.at(-1)) {
            const end = await given.meet(other);
            if (name === "a deadlock")
              await expect.poll(async () => (await watching.query(WAITING_FOR_ROWS)).rowCount).toBe(1);
            others = end();
          }
          await writeSettings(tx, { docs_url: address(`run-${run}`) });
          return run;
        }),
        null,
      );
      await others;
      expect(alone).toEqual([false, false, true]);
      expect(result).toBe(3);
      for (const key of ["public_url", "docs_url"] as const) {
        expect(await store.read(readSetting, key)).toBe(address("run-3"));
      }
    },
  );
});
