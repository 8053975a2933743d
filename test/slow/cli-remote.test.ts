/** @module-tag slow */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { esimctl } from "../support/cli.ts";
import { eventually } from "../support/hangs.ts";
import { launch } from "../support/process.ts";
import { document, served, travelerCsv } from "../support/remote.ts";
import { startUnrulyProxy } from "../support/unruly-proxy.ts";

/** A user logged in with a sandbox credential of a standard-tier partner: 60 requests a minute. */
async function standardTier() {
  const all = await served();
  const proxy = await startUnrulyProxy(all.daemon.url);
  await all.operator("partners create tours --name Tours --tier standard --agent");
  const credential = await all.operator("credentials create --partner tours");
  expect(await all.login(credential, { url: proxy.url })).toMatchObject({ exitCode: 0 });
  const file = (count: number) => {
    const path = join(all.cwd, `travelers-${count}.csv`);
    writeFileSync(path, travelerCsv(count));
    return path;
  };
  const pool = async () => {
    const list = `passports list --all --partner tours --sandbox --data ${all.data} --json`;
    const { records } = await document(esimctl(list.split(" ")));
    return records.map(({ passport_no }: { passport_no: string }) => passport_no);
  };
  return { ...all, proxy, file, pool };
}

test("16,000 passports are imported at 60 requests a minute, waiting for the limit", async () => {
  const { run, file, pool, proxy } = await standardTier();
  const ended = await run(`passports import ${file(16_000)} --json`);
  expect(ended).toMatchObject({ exitCode: 0, stderr: "" });
  expect(JSON.parse(ended.stdout)).toMatchObject({ read: 16_000, imported: 16_000, duplicates: 0, rejected: 0 });
  // 80 batches, and few that were refused as one too many: no hammering at the limit.
  const sent = proxy.seen.filter((line) => line.startsWith("POST /api/v1/kyc")).length;
  expect(sent).toBeGreaterThanOrEqual(80);
  expect(sent).toBeLessThan(84);
  expect(new Set(await pool()).size).toBe(16_000);
});

test("an import killed half-way is finished by the same command, without duplicates", async () => {
  const { run, file, pool, proxy, home } = await standardTier();
  const path = file(5000);
  const first = launch(["passports", "import", path], { env: { XDG_CONFIG_HOME: home } });
  await eventually(
    () => proxy.seen.filter((line) => line.includes("kyc")).length,
    (batches) => batches >= 13,
  );
  await first.end("SIGKILL");
  const before = (await pool()).length;
  expect(before).toBeGreaterThanOrEqual(2400);
  expect(before).toBeLessThan(5000);
  const { exitCode, stdout } = await run(`passports import ${path} --json`);
  expect(exitCode).toBe(0);
  const summary = JSON.parse(stdout);
  expect(summary).toMatchObject({ read: 5000, rejected: 0 });
  expect(summary.imported + summary.duplicates).toBe(5000);
  const numbers = await pool();
  expect(numbers).toHaveLength(5000);
  expect(new Set(numbers).size).toBe(5000);
});
