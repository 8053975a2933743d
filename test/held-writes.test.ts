import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { WRITE_LOCK } from "../src/core/store/engines/postgres-session.ts";
import { deskOf } from "./support/desk.ts";
import { eventually } from "./support/hangs.ts";
import { call, type Platform, startPlatform } from "./support/platform.ts";
import { onPostgres } from "./support/store.ts";

/** What /readyz, `status` and `doctor` report of writes. */
async function reported(platform: Platform) {
  const desk = deskOf(platform);
  const { status, body } = await call(`${platform.url}/readyz`);
  const { writes_held_ms } = await desk.json("status");
  const { stdout } = await desk.run("doctor --json");
  const findings: { check: string; level: string; message: string }[] = JSON.parse(stdout).findings;
  const doctor = findings.find(({ check }) => check === "writes");
  return { readyz: [status, body] as const, writes_held_ms, doctor, screen: (await desk.run("status")).stdout };
}

/** A session that holds the lock of all writes and does nothing, as that of a suspended node; `end` lets go of it. */
async function holdWrites({ location }: Platform): Promise<() => Promise<unknown>> {
  const client = new pg.Client({ connectionString: "url" in location ? location.url : "" });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query("BEGIN");
  await client.query(`SELECT pg_advisory_xact_lock(${WRITE_LOCK})`);
  return () => client.query("ROLLBACK");
}

describe("writes that another session holds up", () => {
  test.runIf(onPostgres)("are reported alike by /readyz, status and doctor, and no longer once it ends", async () => {
    const platform = await startPlatform();
    const end = await holdWrites(platform);
    const held = await eventually(
      () => reported(platform),
      // Asked first: what is asked after it finds the same.
      ({ readyz }) => readyz[1].writes === "held",
    );
    expect(held).toEqual({
      readyz: [200, { status: "ready", writes: "held" }],
      writes_held_ms: expect.any(Number),
      doctor: expect.objectContaining({ level: "fault", message: expect.stringMatching(/holds up all writes/) }),
      screen: expect.stringMatching(/^writes held up by another session for \d+ s: esimctl doctor$/m),
    });
    expect(held.writes_held_ms).toBeGreaterThan(2_000);
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
