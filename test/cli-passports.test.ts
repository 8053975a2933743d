import { cpSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { HANG_MS } from "./support/hangs.ts";
import { newData } from "./support/installation.ts";
import { launch } from "./support/process.ts";
import { temporaryDirectory } from "./support/store.ts";
import { esimctl, esimctlJson } from "./support/warm.ts";

const PASSPORTS = join(import.meta.dirname, "..", "fixtures", "passports.csv");
const HEADER = "first_name,last_name,date_of_birth,passport_no,passport_country,passport_expiry,reference";

// What programs read of printed records.
// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects and fails where it is not there
type Printed = any;

/** A data directory with one partner that has an agent record. */
async function installation() {
  const data = await newData();
  const args = (line: string) => [...line.split(" ").map((word) => word.replaceAll("~", " ")), "--data", data];
  await esimctlJson(args("partners create acme --name Acme --agent"));
  return {
    data,
    args,
    file: (name: string, ...lines: string[]) => {
      const path = join(data, "..", name);
      if (lines.length > 0) writeFileSync(path, `${lines.join("\n")}\n`);
      return path;
    },
    run: (line: string, input?: string) => esimctl(args(line), input === undefined ? {} : { input }),
    json: (line: string, input?: string): Promise<Printed> =>
      esimctlJson(args(line), input === undefined ? {} : { input }),
  };
}

const POOL = "--partner acme --sandbox";

describe("passports import", () => {
  test("imports valid rows, writes rejected ones to a file, and a second run imports nothing", async () => {
    const { run, json, file } = await installation();
    const path = file(
      "people.csv",
      HEADER,
      "Ann,Able,1980-01-02,AA111,GBR,2034-01-01,one",
      "Bob,Bad,1980-02-30,BB222,GBR,2034-01-01,two",
      "Cee,Clear,1981-01-02,CC 333,gb,2034-01-01,three",
      "Cee,Clear,1981-01-02,cc-333,GBR,2034-01-01,four",
      ",Nameless,2999-01-01,!,ZZZ,soon,five",
    );
    // A file of activations has all the columns too.
    const sims = file(
      "sims.csv",
      `iccid,${HEADER}`,
      "8961039436991922002,Ann,Able,1980-01-02,AA111,GBR,2034-01-01,one",
    );
    expect((await run(`passports import ${sims} ${POOL}`)).stderr).toContain("esimctl activations submit");
    const dry = await run(`passports import ${path} ${POOL} --dry-run --json`);
    expect([dry.exitCode, JSON.parse(dry.stdout)]).toMatchObject([3, { read: 5, imported: 0, rejected: 2 }]);
    const strict = await run(`passports import ${path} ${POOL} --strict --json`);
    expect([strict.exitCode, JSON.parse(strict.stdout).imported]).toEqual([1, 0]);
    expect(await json(`passports list ${POOL}`)).toMatchObject({ count: 0 });

    const first = await run(`passports import ${path} ${POOL} --json`);
    const rejectedFile = file("people.rejected.csv");
    expect([first.exitCode, JSON.parse(first.stdout)]).toEqual([
      3,
      {
        read: 5,
        imported: 2,
        updated: 0,
        duplicates: 1,
        rejected: 2,
        rejected_file: rejectedFile,
        reasons: expect.arrayContaining([
          {
            reason: "date_of_birth must be a real date as YYYY-MM-DD",
            rows: 1,
            example: { line: 3, column: "date_of_birth", form: "9999-99-99" },
          },
        ]),
        warnings: [],
        suggestions: [],
        seconds: expect.any(Number),
      },
    ]);
    expect(statSync(rejectedFile).mode & 0o777).toBe(0o600);
    const rejected = readFileSync(rejectedFile, "utf8");
    expect(rejected).toContain("date_of_birth must be a real date");
    expect(rejected).toMatch(/first_name is required/);
    expect(rejected).not.toContain("AA111");
    const second = await run(`passports import ${path} ${POOL} --json`);
    expect(JSON.parse(second.stdout)).toMatchObject({ imported: 0, duplicates: 3, rejected: 2 });
  });

  test("the sample file is imported whole, and a second time without effect", async () => {
    const { run, json } = await installation();
    const rows = readFileSync(PASSPORTS, "utf8").trim().split("\n").length - 1;
    const first = await json(`passports import ${PASSPORTS} ${POOL}`);
    expect(first).toMatchObject({ read: rows, imported: rows, rejected: 0, rejected_file: null });
    expect(await json(`passports import ${PASSPORTS} ${POOL}`)).toMatchObject({ imported: 0, duplicates: rows });
    expect(await json(`passports list ${POOL} --all --limit 7`)).toMatchObject({ count: rows });
    const listed = await run(`passports list ${POOL}`);
    expect([listed.exitCode, listed.stdout.split("\n")[0]]).toEqual([0, expect.stringContaining("number")]);
  });

  test("without an agent record it names what is missing and imports nothing", async () => {
    const { run, json, file } = await installation();
    await json("partners update acme --no-agent");
    const path = file("one.csv", HEADER, "Ann,Able,1980-01-02,AA111,GBR,2034-01-01,one");
    const ended = await run(`passports import ${path} ${POOL} --json`);
    expect([ended.exitCode, JSON.parse(ended.stdout).error.code]).toEqual([1, "no_agent_record"]);
  });
});

/** The installation with three passports; their ids by reference. */
async function withPool() {
  const installed = await installation();
  const { json, file } = installed;
  const path = file(
    "pool.csv",
    HEADER,
    "Ann,Able,1980-01-02,AA111,GBR,2034-01-01,one",
    "Bob,Baker,1981-01-02,BB222,IRL,2034-01-01,two",
    "Cee,Clear,1982-01-02,CC333,DEU,2020-01-01,three",
  );
  await json(`passports import ${path} ${POOL}`);
  const { records } = await json(`passports list ${POOL}`);
  const ids = Object.fromEntries(records.map((record: Printed) => [record.reference, record.id]));
  return {
    ...installed,
    ids: { one: ids.one, two: ids.two, three: ids.three } as Record<"one" | "two" | "three", string>,
  };
}

describe("a partner's passports", () => {
  test("show reads the number from standard input too, edit changes and clears, withdraw asks", async () => {
    const { json, run, ids } = await withPool();
    const shown = await json(`passports show - ${POOL}`, "aa-111\n");
    expect(shown).toMatchObject({ records: [{ id: ids.one, date_of_birth: "1980-01-02" }], count: 1 });
    const none = await run(`passports show ZZ999 ${POOL} --json`);
    expect([none.exitCode, JSON.parse(none.stdout).error.code]).toEqual([1, "not_found"]);
    expect(none.stdout).not.toContain("ZZ999");

    const edited = await json(`passports edit ${ids.one} ${POOL} --address 1~Wattle~Lane --clear reference`);
    expect(edited).toEqual({ ok: true, id: ids.one });
    const { records } = await json(`passports list ${POOL} --passport-no AA111`);
    expect(records).toMatchObject([{ address: "1 Wattle Lane", reference: null }]);
    expect((await run(`passports edit ${ids.one} ${POOL} --clear first_name`)).exitCode).toBe(2);
    expect((await run(`passports edit ${ids.one} ${POOL}`)).exitCode).toBe(2);

    const asked = await run(`passports withdraw ${ids.one} ${POOL}`);
    expect([asked.exitCode, asked.stderr]).toEqual([2, expect.stringContaining("--yes")]);
    expect(await json(`passports withdraw ${ids.one} ${POOL} --yes`)).toMatchObject({ status: "withdrawn" });
    expect(await json(`passports list ${POOL}`)).toMatchObject({ count: 2 });
  });

  test("what an operator reads of them is in the audit trail", async () => {
    const { json, ids } = await withPool();
    await json(`passports show AA111 ${POOL}`);
    const { data } = await json(`audit list --target ${ids.one}`);
    expect(data).toMatchObject([
      { actor: expect.stringContaining("operator ("), action: "passports.read", target_id: ids.one },
    ]);
  });
});

describe("the operator's verbs", () => {
  test("queue, verify, reject, uses and reveal, each recorded", async () => {
    const { json, run, ids } = await withPool();
    const queue = await run("passports queue --json");
    expect(JSON.parse(queue.stdout).data.map((one: Printed) => one.id)).toEqual([ids.one, ids.two, ids.three]);
    expect(queue.stdout).not.toMatch(/AA111|1980-01-02/);

    const mixed = await run(`passports verify ${ids.one} 019c0000-0000-7000-8000-000000000000 --onshore --json`);
    expect([mixed.exitCode, JSON.parse(mixed.stdout)]).toMatchObject([
      3,
      {
        results: [{ status: "verified" }, { status: "failed", reason: "not_found" }],
        summary: { total: 2, failed: 1 },
      },
    ]);
    expect(await json(`passports reject ${ids.two} --reason blurred`)).toMatchObject({ rejection: "blurred" });
    expect(await json("passports queue")).toMatchObject({ data: [{ id: ids.three }], count: 1 });
    expect(await json("passports uses AA111")).toEqual({ data: [], count: 0 });

    const revealed = await json("passports show - --reveal", "aa111");
    const record = { id: ids.one, partner: "acme", passport_no: "AA111", date_of_birth: "1980-01-02" };
    expect(revealed).toMatchObject({ data: [{ ...record, verification: "verified", onshore: true }], count: 1 });
    const trail = await run(`audit list --target ${ids.one} --json`);
    const actions = JSON.parse(trail.stdout).data.map((line: Printed) => line.action);
    expect(actions).toEqual(["passports.reveal", "passports.verify"]);
    expect(trail.stdout).not.toMatch(/AA111|1980-01-02/);
    const first = await json("audit list --target acme --all");
    expect(first.data.at(-1)).toMatchObject({ action: "partners.create" });
    const audit = await run("audit list --target acme --all");
    expect(audit.stdout).toMatch(/passports\.import +partner acme +acme /);
    expect(await json("audit list --since 2999-01-01")).toEqual({ data: [], count: 0 });
  });

  test("verify by file records verdicts, names rows it cannot use, and repeats without effect", async () => {
    const { json, run, file } = await withPool();
    const path = file(
      "verdicts.csv",
      "Passport Country;Passport No;Result;Onshore;Reason",
      "gb;aa 111;verified;yes;",
      "IRL;BB222;rejected;;not legible",
      "DEU;CC333;rejected;;",
      "FRA;ZZ999;verified;no;",
    );
    const ended = await run(`passports verify --file ${path} --json`);
    expect([ended.exitCode, JSON.parse(ended.stdout)]).toMatchObject([3, { read: 4, updated: 2, rejected: 2 }]);
    const reasons = readFileSync(file("verdicts.rejected.csv"), "utf8");
    expect(reasons).toContain("reason is required for a rejection");
    expect(reasons).toContain("no pool holds this passport");
    const again = await run(`passports verify --file ${path} --json`);
    expect(JSON.parse(again.stdout)).toMatchObject({ updated: 0, duplicates: 2 });
    const [one] = (await json("passports show AA111 --reveal")).data;
    expect(one).toMatchObject({ verification: "verified", onshore: true });
    expect((await run("passports verify --json")).exitCode).toBe(2);
    expect((await run(`passports verify --file ${path} --onshore --offshore`)).exitCode).toBe(2);
  });

  test("verify by file rejects rows of one passport that say different things", async () => {
    const { run, file } = await withPool();
    const path = file(
      "verdicts.csv",
      "passport_country,passport_no,result,onshore,reason",
      "GBR,AA111,verified,yes,",
      "IRL,BB222,verified,yes,seen",
      "gb,aa 111,rejected,,not legible",
      "IRL,BB-222,verified,yes,",
      "GBR,AA111,rejected,,",
    );
    const summary = async () => JSON.parse((await run(`passports verify --file ${path} --json`)).stdout);
    expect(await summary()).toMatchObject({ read: 5, updated: 1, duplicates: 1, rejected: 3 });
    const reasons = readFileSync(file("verdicts.rejected.csv"), "utf8");
    expect(reasons.split("passport_no has different verdicts on lines 2 and 4")).toHaveLength(3);
    expect(await summary()).toMatchObject({ updated: 0, duplicates: 2, rejected: 3 });
  });

  test("purge deletes what expired long ago, and refuses a time in the future", async () => {
    const { json, run, ids } = await withPool();
    expect((await run("passports purge --older-than 2999-01-01")).exitCode).toBe(2);
    expect(await json("passports purge --older-than 365d")).toMatchObject({ passports: 1, activations: 0 });
    const { records } = await json(`passports list ${POOL}`);
    expect(records.map((record: Printed) => record.id)).not.toContain(ids.three);
  });

  test("purge reports that a reader keeps the old data in the files, and the next purge erases it", async () => {
    const { json, args, data } = await withPool();
    const file = join(data, "esimctl.db");
    const [reader, other] = [new Database(file, { readonly: true }), new Database(file, { readonly: true })];
    onTestFinished(() => [reader, other].forEach((each) => void each.close()));
    reader.exec("BEGIN");
    reader.prepare("SELECT count(*) FROM passports").get();
    const noted = other.prepare("SELECT value FROM settings WHERE key = 'erasure_due'");
    const { end } = launch(args("passports purge --older-than 365d --json"));
    await vi.waitFor(() => expect(noted.get()).toBeDefined(), HANG_MS);
    // Instead of ten seconds of waiting for the reader.
    const { exitCode, stdout } = await end("SIGINT");
    expect([exitCode, JSON.parse(stdout)]).toMatchObject([130, { passports: 1, erased: false }]);
    reader.exec("COMMIT");
    expect(await json("passports purge --older-than 365d")).toMatchObject({ passports: 0, erased: true });
    expect(noted.get()).toBeUndefined();
  });
});

describe("keys", () => {
  test("the data key rotates and all stays readable; another key file is refused with a message", {
    tags: ["slow"],
  }, async () => {
    const { json, run, data } = await withPool();
    const first = await json("keys rotate data");
    expect(first).toMatchObject({ resumed: false, resealed: 4, dropped: 1, finished: true });
    expect((await json("keys rotate data")).key_id).not.toBe(first.key_id);
    expect(await json(`passports show AA111 ${POOL}`)).toMatchObject({ records: [{ date_of_birth: "1980-01-02" }] });
    expect(await json("keys rotate signing")).toEqual({ key_id: expect.any(String) });
    expect((await run("keys rotate all")).exitCode).toBe(2);

    const copy = `${data}-copy`;
    cpSync(data, copy, { recursive: true });
    // With a key of its own, which a copy of a template has not.
    const other = join(temporaryDirectory(), "other");
    await esimctlJson(["init", "--data", other]);
    cpSync(join(other, "esimctl.key"), join(copy, "esimctl.key"));
    const wrong = await esimctl(["passports", "queue", "--data", copy]);
    expect([wrong.exitCode, wrong.stderr]).toEqual([1, expect.stringContaining("master key does not belong")]);
    rmSync(join(copy, "esimctl.key"));
    const missing = await esimctl(["passports", "queue", "--data", copy]);
    expect([missing.exitCode, missing.stderr]).toEqual([1, expect.stringContaining("is missing")]);
    expect(existsSync(join(copy, "esimctl.key"))).toBe(false);
  });
});
