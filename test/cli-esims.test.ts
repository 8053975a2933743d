import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isNotNull } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { systemClock } from "../src/core/kernel/clock.ts";
import { randomIds } from "../src/core/kernel/ids.ts";
import { dataDirectory } from "../src/core/platform/data-directory.ts";
import { openStore } from "../src/core/store/open/open.ts";
import { readMasterKey } from "../src/core/store/sealing/key-files.ts";
import type { Read } from "../src/core/store/store.ts";
import { createFulfillment } from "../src/daemon/workers/fulfillment.ts";
import type { Ended } from "./support/cli.ts";
import { settled } from "./support/pool.ts";
import { openShop } from "./support/shop.ts";
import { temporaryDirectory } from "./support/store.ts";
import { esimctl, esimctlJson } from "./support/warm.ts";

interface Status {
  iccid: string;
  status: string;
  activated_at: string | null;
  expires_at: string | null;
  data_usage: { used_mb: number };
  location: { country: string | null } | null;
}

/** The operator's data with two delivered eSIMs of the partner `acme`, and ways to look after them. */
async function delivered() {
  const folder = temporaryDirectory();
  const { data } = await openShop({ folder, stock: { EU5: 3 }, priceCents: 100, fundsCents: 10_000 });
  const at = ["--data", data];
  const partner = [...at, "--partner", "acme"];
  await esimctlJson(["orders", "create", "--product", "EU5", "--quantity", "2", ...partner]);
  const iccids = await fulfill(data);
  return {
    folder,
    data,
    iccids,
    status: async (iccid: string) => (await esimctlJson(["esims", "status", iccid, ...partner])) as Status,
    run: (...args: string[]): Promise<Ended> => esimctl(["esims", ...args, ...at]),
    asPartner: (...args: string[]): Promise<Ended> => esimctl(["esims", ...args, ...partner]),
    /** Imports a usage file of these lines. */
    async importUsage(lines: string[], ...args: string[]): Promise<Ended> {
      const file = join(folder, "usage.csv");
      writeFileSync(file, `iccid,used_mb,total_mb,country,network,at\n${lines.join("\n")}\n`);
      return esimctl(["esims", "usage", "import", file, ...at, "--json", ...args]);
    },
  };
}

/** What the daemon's worker would do; the ICCIDs that it delivered. */
async function fulfill(data: string): Promise<[string, string]> {
  const { databaseFile: file, keyFile } = dataDirectory(data);
  const sources = { clock: systemClock, ids: randomIds(), masterKey: readMasterKey(keyFile) };
  const store = await openStore({ file, create: false }, sources);
  await settled(createFulfillment({ store, log: console }));
  const sold = (q: Read, _input: null) => q.db.select().from(q.t.esims).where(isNotNull(q.t.esims.order_id));
  const [first, second] = await store.read(sold, null);
  await store.close();
  return [first?.iccid ?? "", second?.iccid ?? ""];
}

test("send leaves a mail to serve, to an address that is masked or to a customer whom the order names", async () => {
  const { iccids, run, data } = await delivered();
  const [iccid] = iccids;
  const sent = await run("send", iccid, "--to", "mia@example.com", "--json");
  expect([sent.exitCode, JSON.parse(sent.stdout)]).toMatchObject([0, { status: "waiting", to: "m•••@…" }]);
  expect((await esimctl(["find", iccid, "--data", data])).stdout).toContain(
    "waits to be sent to the traveler (m•••@…)",
  );
  expect((await run("send", iccid)).stderr).toContain("Give --to ADDRESS or --to-customer.");
  const unnamed = await run("send", iccid, "--to-customer");
  expect([unnamed.exitCode, unnamed.stderr]).toEqual([
    expect.any(Number),
    expect.stringContaining("names no customer"),
  ]);
});

describe("activate and suspend", () => {
  test("change the state of an eSIM as the partner sees it", async () => {
    const { iccids, status, run } = await delivered();
    const [iccid] = iccids;
    expect(await run("activate", iccid)).toMatchObject({ exitCode: 0 });
    const active = await status(iccid);
    expect(active.status).toBe("active");
    expect(Date.parse(active.expires_at ?? "") - Date.parse(active.activated_at ?? "")).toBe(30 * 86_400_000);
    const suspended = await run("suspend", iccid, "--yes", "--json");
    expect(JSON.parse(suspended.stdout)).toMatchObject({ iccid, status: "suspended" });
    expect(await run("activate", iccid)).toMatchObject({ exitCode: 0 });
    expect(await status(iccid)).toEqual(active);
  });

  test("suspending asks first; without a terminal nothing happens", async () => {
    const { iccids, status, run } = await delivered();
    const refused = await run("suspend", iccids[0]);
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toMatch(/Suspend eSIM .* which is inactive\?.*--yes/s);
    expect((await status(iccids[0])).status).toBe("inactive");
  });

  test("refuse an ICCID that was never delivered", async () => {
    const { run } = await delivered();
    for (const verb of ["activate", "suspend"]) {
      const refused = await run(verb, "8944590004463637008", "--yes");
      expect(refused.exitCode).toBe(1);
      expect(refused.stderr).toMatch(/No delivered eSIM has ICCID 8944590004463637008/);
    }
  });
});

test("status prints what the API returns, and refuses as the API does", async () => {
  const { iccids, asPartner } = await delivered();
  const shown = await asPartner("status", iccids[0]);
  for (const words of [iccids[0], "inactive", "0 of 5120 MB used, 5120 MB left"]) expect(shown.stdout).toContain(words);
  const malformed = await asPartner("status", "12", "--json");
  expect([malformed.exitCode, JSON.parse(malformed.stdout).error.code]).toEqual([1, "invalid_iccid"]);
});

describe("usage import", () => {
  test("stores reports; the same file again changes nothing", async () => {
    const { iccids, status, importUsage } = await delivered();
    const lines = [`${iccids[0]},1922,5120,DE,Alpenfunk,2026-03-01T10:00:00Z`, `${iccids[1]},12,,,,`];
    const first = await importUsage(lines);
    expect(JSON.parse(first.stdout)).toMatchObject({ read: 2, imported: 2, duplicates: 0, rejected: 0 });
    expect(await status(iccids[0])).toMatchObject({ data_usage: { used_mb: 1922 }, location: { country: "DE" } });
    expect(await status(iccids[1])).toMatchObject({ data_usage: { used_mb: 12 }, location: null });
    const again = await importUsage(lines);
    expect([again.exitCode, JSON.parse(again.stdout)]).toMatchObject([0, { imported: 0, duplicates: 2 }]);
    const more = await importUsage([`${iccids[0]},2000,,,,2026-03-01T11:00:00Z`]);
    expect(JSON.parse(more.stdout)).toMatchObject({ updated: 1 });
  });

  test("writes invalid rows to a file with their reasons and imports the others", async () => {
    const { folder, iccids, importUsage } = await delivered();
    const mixed = await importUsage([
      `${iccids[0]},100,,,,`,
      `${iccids[1]},many,,,,yesterday`,
      "8944590004463637008,100,,,,",
    ]);
    expect([mixed.exitCode, JSON.parse(mixed.stdout)]).toMatchObject([3, { imported: 1, rejected: 2 }]);
    const rejected = readFileSync(join(folder, "usage.rejected.csv"), "utf8");
    expect(rejected).toMatch(/used_mb must be a whole number of megabytes; at must be a time/);
    expect(rejected).toMatch(/no delivered eSIM has this iccid/);
  });

  test("is the only word after usage", async () => {
    const { run } = await delivered();
    expect(await run("usage", "export", "x.csv")).toMatchObject({ exitCode: 2 });
  });
});
