import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { request } from "./support/activations.ts";
import { openShop } from "./support/shop.ts";
import { temporaryDirectory } from "./support/store.ts";
import { esimctl } from "./support/warm.ts";

/** A data directory with one open request. */
async function terminalPlace() {
  const folder = temporaryDirectory();
  const { data } = await openShop({ folder, stock: { EU5: 3 }, priceCents: 100, fundsCents: 1000 });
  const run = (line: string, input?: string) =>
    esimctl([...line.split(" "), "--data", data], input === undefined ? {} : { input });
  const file = (name: string, rows: Record<string, unknown>[]) => {
    const columns = Object.keys(rows[0] ?? {});
    const lines = [columns, ...rows.map((row) => columns.map((column) => String(row[column] ?? "")))];
    writeFileSync(join(folder, name), lines.map((cells) => cells.join(",")).join("\n"));
    return join(folder, name);
  };
  const dates = { activation_date: "2031-03-10", passport_expiry: "2034-01-01", passport_no: "ZQ7654321" };
  const sim = request({ ...dates, customer_email: "zelda@example.com", last_name: "Zeldamark" });
  await run(`activations submit ${file("sims.csv", [sim])} --partner acme`);
  return {
    run,
    cancel: () => run(`activations cancel --iccid ${sim.iccid} --partner acme --yes`),
    bytes: () =>
      readdirSync(data)
        .filter((name) => name.startsWith("esimctl.db"))
        .map((name) => readFileSync(join(data, name), "latin1"))
        .join(""),
  };
}

test("erase shows no values, asks, leaves open records with exit code 3, and no byte stays", async () => {
  const { run, cancel, bytes } = await terminalPlace();
  const dry = await run("erase --email - --dry-run --json", "ZELDA@example.com\n");
  expect([dry.exitCode, JSON.parse(dry.stdout)]).toMatchObject([
    3,
    { dry_run: true, records: [{ kind: "activation", partner: "acme", state: "open" }], erased: 0, open: 1 },
  ]);
  const open = await run("erase --passport zq-7654321 --yes");
  expect([open.exitCode, open.stdout]).toEqual([3, expect.stringContaining("not erasable yet: 1")]);
  await cancel();
  const asked = await run("erase --email zelda@example.com");
  expect([asked.exitCode, asked.stderr]).toEqual([2, expect.stringContaining("--yes")]);
  expect(bytes()).not.toContain("Zeldamark");
  const done = await run("erase --email zelda@example.com --yes");
  expect([done.exitCode, done.stdout]).toEqual([0, expect.stringContaining("Erased from 1 record.")]);
  expect(done.stdout).not.toMatch(/zelda/i);
  for (const value of ["Zeldamark", "zelda@example.com", "ZQ7654321"]) expect(bytes()).not.toContain(value);
  const again = await run("erase --email zelda@example.com --yes");
  expect([again.exitCode, again.stdout]).toEqual([0, expect.stringContaining("Nothing is recorded of this person.")]);
  const trail = await run("audit list --json");
  expect(trail.stdout).toContain("activations.erase");
  expect(trail.stdout).not.toMatch(/zelda/i);
});

test("erase requires a person, and refuses an unknown one", async () => {
  const { run } = await terminalPlace();
  for (const line of ["erase", "erase --country GBR", "erase --email - --phone -"]) {
    expect((await run(line, "")).exitCode, line).toBe(2);
  }
  const refused = await run("erase --phone 12 --json");
  expect([refused.exitCode, JSON.parse(refused.stdout).error.code]).toEqual([1, "validation"]);
});
