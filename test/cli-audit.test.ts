import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import type { AuditLine } from "../src/core/audit/list.ts";
import { request } from "./support/activations.ts";
import { esimctl as esimctlProcess } from "./support/cli.ts";
import { startDaemon } from "./support/daemon.ts";
import { openShop } from "./support/shop.ts";
import { temporaryDirectory } from "./support/store.ts";
import { esimctl, esimctlJson } from "./support/warm.ts";

const ME = `operator (${userInfo().username}, uid ${process.getuid?.()}${loginWords()})`;

/** The login user, where the kernel keeps it and it differs. */
function loginWords(): string {
  const file = "/proc/self/loginuid";
  const login = existsSync(file) ? readFileSync(file, "utf8").trim() : "4294967295";
  return login === "4294967295" || login === String(process.getuid?.()) ? "" : `, login uid ${login}`;
}

/** A stocked data directory, and the terminal on it. */
async function installation() {
  const folder = temporaryDirectory();
  const { data } = await openShop({ folder, stock: { EU5: 3 }, priceCents: 100, fundsCents: 1000 });
  const at = (place: string[], line: string) => esimctl([...line.split(" "), ...place]);
  const here = ["--data", data];
  const run = (line: string) => at(here, line);
  const json = async (line: string, place = here) => {
    const ended = await at(place, `${line} --json`);
    return { exitCode: ended.exitCode, body: JSON.parse(ended.stdout) };
  };
  const trail = async (action: string, place = here): Promise<AuditLine[]> => {
    const { data } = (await json("audit list --all", place)).body;
    return data.filter((line: AuditLine) => line.action === action);
  };
  const tamper = (statements: string) => {
    const database = new Database(join(data, "esimctl.db"));
    database.exec(statements);
    database.close();
  };
  return { folder, data, here, run, json, trail, tamper };
}

const ORDER = "orders create --product EU5 --quantity 2 --partner acme";

describe("audit verify", () => {
  test("passes on untouched data, served or not, and names what was changed", { tags: ["slow"] }, async () => {
    const { data, run, json, tamper } = await installation();
    expect(await json("audit verify")).toMatchObject({
      exitCode: 0,
      body: { ok: true, faults: [], fault_count: 0, rows: expect.any(Number), chains: expect.any(Number) },
    });
    const daemon = await startDaemon({ data });
    expect((await run("audit verify")).stdout).toMatch(/as written: \d+ rows in \d+ chains, \d+ signatures?\.$/);
    await daemon.stop();

    tamper("DROP TRIGGER audit_entries_no_delete");
    const unguarded = await json("audit verify");
    expect(unguarded).toMatchObject({
      exitCode: 1,
      body: { ok: false, faults: [{ chain: null, no: null, message: "trigger audit_entries_no_delete is missing" }] },
    });
    tamper("DELETE FROM audit_entries WHERE action = 'wallet.credit'");
    const { exitCode, stdout } = await run("audit verify");
    expect([exitCode, stdout]).toEqual([1, expect.stringMatching(/^audit:[\w-]+: row \d+ is missing/m)]);
    expect(await json("doctor")).toMatchObject({ exitCode: 1, body: { ok: false } });
  });

  test("works on the operator's data only, like the export", async () => {
    for (const line of ["audit verify", "audit export --since 1h"]) {
      const ended = await esimctl([...line.split(" "), "--server", "https://esim.example.com", "--json"]);
      expect([ended.exitCode, JSON.parse(ended.stdout).error.code]).toEqual([2, "operator_only"]);
    }
  });
});

describe("audit export", () => {
  test("prints JSON lines, or writes them into a new file that only its owner may read", async () => {
    const { folder, run, json } = await installation();
    const { exitCode, stdout } = await run("audit export --since 1h");
    const lines = stdout.split("\n").map((line) => JSON.parse(line));
    expect(exitCode).toBe(0);
    expect(lines[0]).toMatchObject({ hash: expect.stringMatching(/^[0-9a-f]{64}$/), row: { no: 1, previous: null } });
    expect(lines.at(-1)).toMatchObject({ key: { kty: "OKP", crv: "Ed25519" } });
    const file = join(folder, "evidence.jsonl");
    const { body } = await json(`audit export --since 2020-01-01 -o ${file}`);
    const signatures = lines.filter((line) => "head" in line).length;
    expect(body).toEqual({ file, rows: lines.filter((line) => "row" in line).length, signatures });
    expect(readFileSync(file, "utf8")).toBe(`${stdout}\n`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    writeFileSync(file, "mine");
    expect(await json(`audit export --since 1h -o ${file}`)).toMatchObject({
      exitCode: 1,
      body: { error: { code: "file_exists" } },
    });
    expect(readFileSync(file, "utf8")).toBe("mine");
    expect(await json("audit verify")).toMatchObject({ exitCode: 0, body: { ok: true, signatures } });
  });

  test("requires a time, and refuses --json", async () => {
    const { run } = await installation();
    expect((await run("audit export")).exitCode).toBe(2);
    expect((await run("audit export --since 1h --json")).exitCode).toBe(2);
  });
});

describe("the audit trail names", () => {
  test("the system's user, whatever the environment names", async () => {
    const { here, trail } = await installation();
    const env = { SUDO_USER: "mallory", USER: "mallory", LOGNAME: "mallory", SUDO_UID: "4711" };
    await esimctlProcess(["partners", "suspend", "acme", "--yes", ...here], { env });
    expect((await trail("partners.suspend")).map(({ actor }) => actor)).toEqual([ME]);
  });

  test("the operator who places orders and activations for a partner, and who reads their codes", async () => {
    const { data, run, json, trail } = await installation();
    const { id } = (await json(ORDER)).body;
    const partner = { partner_id: expect.any(String), actor: ME };
    expect(await trail("orders.create")).toMatchObject([{ target_id: id, ...partner }]);
    const bulk = join(data, "bulk.csv");
    writeFileSync(bulk, "external_order_id,sku,quantity,customer_email,customer_name\nX1,EU5,1,a@example.com,A\n");
    expect((await run(`orders bulk ${bulk} --partner acme`)).exitCode).toBe(0);
    expect(await trail("orders.create")).toHaveLength(2);

    const asked = Object.entries(request({ activation_date: "2031-03-10", passport_expiry: "2034-01-01" }));
    const sims = join(data, "sims.csv");
    writeFileSync(sims, `${asked.map(([name]) => name).join(",")}\n${asked.map(([, value]) => value).join(",")}\n`);
    expect((await run(`activations submit ${sims} --partner acme`)).exitCode).toBe(0);
    expect(await trail("activations.submit")).toMatchObject([{ target_kind: "activation", ...partner }]);

    // More than the stock holds: nothing to see yet, and nothing to note.
    const waiting = (await json(ORDER.replace("--quantity 2", "--quantity 4"))).body;
    await run(`orders show ${waiting.id}`);
    expect(await trail("orders.read-codes")).toEqual([]);
    await run(`orders esims ${id}`);
    await run(`orders show ${id}`);
    const read = await trail("orders.read-codes");
    expect(read).toHaveLength(2);
    expect(read[0]).toMatchObject({ target_id: id, fields: ["activation_code"], note: "2 eSIMs", ...partner });
    expect(JSON.stringify(read)).not.toContain("LPA:");
  });

  test("who made a backup and restored it", async () => {
    const { folder, here, json, trail } = await installation();
    const file = join(folder, "one.backup");
    await esimctlJson(["backup", file, ...here]);
    const by = { actor: ME, partner_id: null };
    expect(await trail("data.backup")).toMatchObject([{ target_id: file, fields: ["key_file"], ...by }]);
    expect(await esimctlJson(["verify-backup", file])).toMatchObject({
      ok: true,
      findings: expect.arrayContaining([expect.objectContaining({ check: "evidence", level: "ok" })]),
    });
    const restored = ["--data", join(folder, "restored")];
    await esimctlJson(["restore", file, ...restored]);
    expect(await trail("data.restore", restored)).toMatchObject([{ target_id: file, ...by }]);
    expect(await trail("data.backup", restored)).toHaveLength(1);
    expect(await json("audit verify", restored)).toMatchObject({ exitCode: 0, body: { ok: true } });
  });
});
