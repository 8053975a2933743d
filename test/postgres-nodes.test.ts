import { sql } from "drizzle-orm";
import pg from "pg";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { systemClock } from "../src/core/kernel/clock.ts";
import { randomIds } from "../src/core/kernel/ids.ts";
import { openStore } from "../src/core/store/engines/open.ts";
import { WRITE_LOCK } from "../src/core/store/engines/postgres-session.ts";
import { migrationsOf } from "../src/core/store/migrate.ts";
import { readSetting, writeSettings } from "../src/core/store/settings.ts";
import type { Read, Store, Tx } from "../src/core/store/store.ts";
import { HANG_MS } from "./support/hangs.ts";
import { asBefore, freshPostgres, onPostgres } from "./support/store.ts";

const masterKey = Buffer.alloc(32, 7);

/** A store as each node opens one, closed with the test. */
async function node(url: string, onWait?: (words: string) => void): Promise<Store> {
  const store = await openStore({ url }, { clock: systemClock, ids: randomIds(), masterKey, onWait });
  onTestFinished(() => store.close());
  return store;
}

/** Another session on the database, ended with the test. */
async function session(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
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

describe.runIf(onPostgres)("several nodes on one PostgreSQL", () => {
  test("a node that is suspended amid a write loses it, and the others continue to write", async () => {
    const { url } = await freshPostgres();
    const other = await node(url);
    // Ten seconds by default; less here, so that the test need not wait.
    expect(await other.read(shown, "current_setting('idle_in_transaction_session_timeout')")).toBe("10s");
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
    const holder = await session(url);
    await holder.query(`SELECT pg_advisory_lock(${WRITE_LOCK})`);
    await expect(hasty.write(remember, "http://hasty.test")).rejects.toMatchObject({ reason: "locked" });
    await holder.query(`SELECT pg_advisory_unlock(${WRITE_LOCK})`);
    await hasty.write(remember, "http://waited.test");
  });

  test("a migration waits briefly for other sessions, reports it, and does not block those behind it", async () => {
    const { url } = await freshPostgres();
    await asBefore({ url }, migrationsOf("postgres").slice(0, 3), []);
    const dump = await session(url);
    await dump.query("BEGIN");
    await dump.query("LOCK TABLE partners IN ACCESS SHARE MODE");
    const waits: string[] = [];
    const opening = node(url, (words) => waits.push(words));
    await vi.waitFor(() => expect(waits).toEqual([expect.stringContaining("trying again")]), HANG_MS);
    // While it waited for the table's lock, this would have waited behind it.
    expect((await (await session(url)).query("SELECT count(*) FROM partners")).rowCount).toBe(1);
    await dump.query("COMMIT");
    await (await opening).write(remember, "http://migrated.test");
  });

  test("a node whose schema is up to date opens while another one writes", async () => {
    const { url } = await freshPostgres();
    await node(url);
    const writer = await session(url);
    await writer.query(`SELECT pg_advisory_lock(${WRITE_LOCK})`);
    expect(await (await node(url)).read(readSetting, "public_url")).toBeNull();
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
