import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../src/core/kernel/clock.ts";
import { runChecks } from "../src/core/maintenance/doctor.ts";
import { databaseChecks } from "./support/doctor.ts";
import { onPostgres, openTestStore, temporaryDirectory } from "./support/store.ts";

test("the database of either engine passes, and a dropped index is found", async () => {
  const { location, masterKey, store } = await openTestStore(systemClock);
  const where = "file" in location ? { file: location.file } : location;
  const keyFile = join(temporaryDirectory(), "esimctl.key");
  writeFileSync(keyFile, `esimctl-key-v1:${masterKey.toString("base64url")}\n`, { mode: 0o600 });
  const checked = { where, keys: { file: keyFile, given: [] }, directory: null, clock: systemClock };
  expect((await runChecks(checked)).filter(({ level }) => level !== "ok")).toEqual([]);
  // Again: the checks change nothing.
  expect((await runChecks(checked)).map(({ check }) => check)).toEqual(databaseChecks);
  await store.write(async (tx) => {
    const statement = "DROP INDEX orders_due";
    if (onPostgres) await Reflect.get(tx.db, "execute").call(tx.db, statement);
    else Reflect.get(tx.db, "run").call(tx.db, statement);
  }, null);
  expect((await runChecks(checked)).filter(({ level }) => level !== "ok")).toMatchObject([
    { check: "schema", level: "fault", message: expect.stringContaining("index orders_due is missing") },
  ]);
});
