import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { startDaemon } from "./support/daemon.ts";
import { openShop } from "./support/shop.ts";
import { temporaryDirectory } from "./support/store.ts";
import { esimctl } from "./support/warm.ts";

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
  const tamper = (statements: string) => {
    const database = new Database(join(data, "esimctl.db"));
    database.exec(statements);
    database.close();
  };
  return { folder, data, run, json, tamper };
}

describe("audit verify", () => {
  test("passes on untouched data, served or not, and names what was changed", async () => {
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

  test("works on the operator's data only, as the export does", async () => {
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

  test("wants a time, and no --json for many lines", async () => {
    const { run } = await installation();
    expect((await run("audit export")).exitCode).toBe(2);
    expect((await run("audit export --since 1h --json")).exitCode).toBe(2);
  });
});
