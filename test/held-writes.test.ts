import { readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { WRITE_LOCK } from "../src/core/store/postgres/session.ts";
import { deskOf } from "./support/desk.ts";
import { eventually } from "./support/hangs.ts";
import { call, type Platform, startPlatform } from "./support/platform.ts";
import { root } from "./support/sources.ts";
import { onPostgres } from "./support/store.ts";

/** What /readyz, `status` and `doctor` report of writes. */
async function reported(platform: Platform) {
  const desk = deskOf(platform);
  const { status, body } = await call(`${platform.url}/readyz`);
  const { writes_held_ms } = await desk.json("status");
  const { stdout } = await desk.run("doctor --json");
  const findings: { check: string; level: string; message: string }[] = JSON.parse(stdout).findings;
  const doctor = findings.find(({ check }) => check === "writes");
  return { readyz: [status, body], writes_held_ms, doctor, screen: (await desk.run("status")).stdout };
}

async function session({ location }: Platform): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: "url" in location ? location.url : "" });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/** A session that holds the lock of all writes and does nothing, as that of a suspended node; `end` lets go of it. */
async function holdWrites(platform: Platform) {
  const client = await session(platform);
  await client.query("BEGIN");
  const { rows } = await client.query(`SELECT pg_backend_pid() AS pid, pg_advisory_xact_lock(${WRITE_LOCK})`);
  return { pid: Number(rows[0]?.pid), end: () => client.query("ROLLBACK") };
}

/** The query of the PostgreSQL guide that lists sessions. */
function documentedQuery(): string {
  const page = readFileSync(join(root, "docs", "postgresql.md"), "utf8");
  const [, query] = /```sql\n(SELECT pid[^`]+)```/.exec(page) ?? [];
  if (query === undefined) throw new Error("the guide has no query of sessions");
  return query;
}

describe("writes that another session holds up", () => {
  test.runIf(onPostgres)("are reported alike by /readyz, status and doctor, and no longer once it ends", async () => {
    const platform = await startPlatform();
    const { pid, end } = await holdWrites(platform);
    await eventually(
      () => call(`${platform.url}/readyz`),
      ({ body }) => body.writes === "held",
    );
    const held = await reported(platform);
    expect(held).toEqual({
      readyz: [200, { status: "ready", writes: "held" }],
      writes_held_ms: expect.any(Number),
      doctor: expect.objectContaining({ level: "fault", message: expect.stringMatching(/holds up all writes/) }),
      screen: expect.stringMatching(/^writes held up by another session for \d+ s: esimctl doctor$/m),
    });
    expect(held.writes_held_ms).toBeGreaterThan(2_000);
    const { rows } = await (await session(platform)).query(documentedQuery());
    expect(rows[0]).toMatchObject({ pid, state: "idle in transaction" });
    await end();
    expect(await reported(platform)).toEqual({
      readyz: [200, { status: "ready" }],
      writes_held_ms: null,
      doctor: expect.objectContaining({ level: "ok" }),
      screen: expect.not.stringContaining("held up"),
    });
  });

  test.runIf(!onPostgres)("do not exist on SQLite: its lock frees itself with the process", async () => {
    const platform = await startPlatform();
    expect(await reported(platform)).toEqual({
      readyz: [200, { status: "ready" }],
      writes_held_ms: null,
      doctor: undefined,
      screen: expect.not.stringContaining("held up"),
    });
  });
});
