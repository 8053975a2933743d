import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { type Served, startDaemon, targetOf } from "./support/daemon.ts";
import { sessionOn } from "./support/database.ts";
import { root } from "./support/sources.ts";
import { freshPostgres, onPostgres, temporaryDirectory } from "./support/store.ts";
import { esimctl, esimctlJson } from "./support/warm.ts";

// What release 0.1.0 left, made by its own commands with made-up data: a delivered order, one in
// review, one of the sandbox, an activation request, passports, an endpoint.

const kept = (name: string) => join(root, "test", "fixtures", "0.1.0", name);
const unpacked = (name: string) => gunzipSync(readFileSync(kept(name)));

function keyIn(folder: string, name: string): string {
  const file = join(folder, "esimctl.key");
  copyFileSync(kept(name), file);
  chmodSync(file, 0o600);
  return file;
}

/** An installation as 0.1.0 left it, on the engine under test. */
async function ofRelease010(): Promise<Served> {
  const folder = join(temporaryDirectory(), "data");
  mkdirSync(folder, { mode: 0o700 });
  if (!onPostgres) {
    writeFileSync(join(folder, "esimctl.db"), unpacked("esimctl.db.gz"), { mode: 0o600 });
    keyIn(folder, "esimctl.key");
    return { data: folder };
  }
  const { url } = await freshPostgres();
  const session = await sessionOn(url);
  // pg_dump's guards against what psql would run are lines of psql's own.
  await session.query(
    unpacked("postgres.sql.gz")
      .toString()
      .replace(/^\\.*$/gm, ""),
  );
  return { database: url, keyFile: keyIn(folder, "postgres.key") };
}

test("an installation of 0.1.0 opens, migrates, passes doctor, and goes on", { tags: ["slow"] }, async () => {
  const served = await ofRelease010();
  const { args, env } = targetOf(served);
  // On PostgreSQL another address is another setting of the platform.
  const flags = onPostgres ? ["--take-over-settings"] : [];
  const daemon = await startDaemon({ ...served, flags });
  const json = async (line: string) => Object(await esimctlJson([...line.split(" "), ...args], { env }));

  const { ok, findings } = await json("doctor");
  expect([ok, findings.filter(({ level }: { level: string }) => level === "fault")]).toEqual([true, []]);
  expect(await json("wallet check")).toMatchObject({ ok: true, wallets: [{ balance_cents: 43_770 }] });
  expect(await json("audit verify")).toMatchObject({ ok: true });

  const { data: orders } = await json("orders list --partner acme");
  expect(orders.map(({ status, total_price_cents }: Record<string, unknown>) => [status, total_price_cents])).toEqual([
    ["waiting_review", 4_450],
    ["fulfilled", 1_780],
  ]);
  const { esims } = await json(`orders esims ${orders[1].order_number}`);
  expect(esims.map((esim: Record<string, unknown>) => esim.activation_code).sort()).toEqual([
    "LPA:1$rsp.example.com$K2-AAAA-0001",
    "LPA:1$rsp.example.com$K2-AAAA-0002",
  ]);
  const shown = await esimctl(["activations", "show", "8961032200826199583", "--reveal", ...args], { env });
  expect(shown.stdout).toContain("342075096");
  expect((await esimctl(["find", "underwold", ...args], { env })).stdout).toContain("8961032200826199583");

  const folder = temporaryDirectory();
  const stock = Array.from({ length: 4 }, (_, at) => `893720000000090200${at},smdp.example.com,K3-${at}`);
  writeFileSync(join(folder, "stock.csv"), ["iccid,smdp_address,matching_id", ...stock].join("\n"));
  await json(`stock import ${join(folder, "stock.csv")} --sku EU5 --no-luhn`);
  await json(`orders approve ${orders[0].order_number} --yes`);
  await expect
    .poll(async () => (await json(`orders show ${orders[0].order_number} --partner acme`)).status)
    .toBe("fulfilled");
  expect(await json(`orders refund ${orders[1].order_number} --reason late --yes`)).toMatchObject({
    refunded_cents: 1_780,
  });
  expect(await json("wallet check")).toMatchObject({ ok: true });
  expect(await daemon.stop()).toMatchObject({ exitCode: 0 });
});
