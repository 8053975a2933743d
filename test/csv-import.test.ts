import {
  appendFileSync,
  createWriteStream,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { parse } from "csv-parse/sync";
import { stringify } from "csv-stringify/sync";
import { describe, expect, test } from "vitest";
import { type ImportItem, type ImportJob, importExitCode, importRows, type RowOutcome } from "../src/cli/csv/import.ts";
import { openCsv } from "../src/cli/csv/open.ts";
import { rejectedPath } from "../src/cli/csv/rejected.ts";
import { passportVerdictsCsv } from "../src/cli/csv/specs.ts";
import type { CsvRow } from "../src/core/csv/rows.ts";
import type { Checked } from "../src/core/kernel/checked.ts";
import { csvFolder, people, readAll, refusal } from "./support/csv-files.ts";
import { garbageCollector } from "./support/garbage-collector.ts";

const folder = csvFolder();
type Person = CsvRow<"passport_no" | "name" | "note">;

/** A receiver that keeps its rows, and has some passports already. */
function receiver(outcomes: Record<string, RowOutcome> = {}) {
  const batches: string[][] = [];
  return {
    batches,
    send: async (batch: readonly ImportItem<string>[]): Promise<RowOutcome[]> => {
      batches.push(batch.map((item) => item.value));
      return batch.map((item) => outcomes[item.value] ?? "imported");
    },
  };
}

function check(row: Person): Checked<string> {
  const problems: string[] = [];
  if (!/^P\d+$/.test(row.values.passport_no)) problems.push("passport_no must be P and digits");
  if (row.values.name === "") problems.push("name is missing");
  return problems.length > 0 ? { problems } : { ok: row.values.passport_no };
}

type Extra = Partial<ImportJob<"passport_no" | "name" | "note", string>>;

async function run(path: string, to: { send: ImportJob<string, string>["send"] }, extra: Extra = {}) {
  let time = 0;
  const now = () => {
    time += 1500;
    return time;
  };
  const csv = await openCsv(path, people);
  try {
    return await importRows({ csv, check, send: to.send, batchSize: () => 2, now, folder: folder.path(), ...extra });
  } finally {
    await csv.close();
  }
}

const mixed = 'passport_no,name,Shoe Size\nP1,Ada,38\nX,,"4,0"\nP2,Bo,41\nP3,"Cy\n=1+1",\nP4,Di\nP5,Ed,43\n';

describe("an import", () => {
  test("sends valid rows in batches, counts outcomes, and writes rejected rows to a file", async () => {
    const path = folder.file(mixed);
    const to = receiver({ P2: "duplicate", P3: { rejected: "passport_expiry is past" }, P5: "updated" });
    const summary = await run(path, to);
    expect(to.batches).toEqual([
      ["P1", "P2"],
      ["P3", "P5"],
    ]);
    expect(summary).toEqual({
      read: 6,
      imported: 1,
      updated: 1,
      duplicates: 1,
      rejected: 3,
      rejected_file: folder.path("people.rejected.csv"),
      reasons: [
        {
          reason: "passport_no must be P and digits",
          rows: 1,
          example: { line: 3, column: "passport_no", form: "A" },
        },
        { reason: "name is missing", rows: 1, example: { line: 3, column: "name", form: null } },
        {
          reason: "has 2 fields where the header has 3: it ends before Shoe Size",
          rows: 1,
          example: { line: 7, column: null, form: null },
        },
        { reason: "passport_expiry is past", rows: 1, example: { line: 5, column: null, form: null } },
      ],
      warnings: [],
      suggestions: [],
      seconds: 1.5,
    });
    expect(readFileSync(folder.path("people.rejected.csv"), "utf8")).toBe(
      "passport_no,name,Shoe Size,line,reason\n" +
        'X,,"4,0",3,"passport_no must be P and digits; name is missing"\n' +
        // Refused only when it was sent, and yet in its place.
        'P3,"Cy\n=1+1",,5,passport_expiry is past\n' +
        "P4,Di,,7,has 2 fields where the header has 3: it ends before Shoe Size\n",
    );
    expect(statSync(folder.path("people.rejected.csv")).mode & 0o777).toBe(0o600);
  });

  test("reports its progress", async () => {
    const seen: string[] = [];
    await run(folder.file(mixed), receiver(), { progress: (at) => seen.push(`${at.phase} ${at.done}/${at.total}`) });
    expect(seen).toEqual(["check 6/null", "send 0/6", "send 3/6", "send 6/6", "send 6/6"]);
  });

  test("a corrected rejected file is read again, and its line and reason columns are replaced", async () => {
    await run(folder.file(mixed), receiver());
    const path = folder.path("people.rejected.csv");
    writeFileSync(path, readFileSync(path, "utf8").replace("X,,", "P9,Zoe,"));
    const to = receiver({ P9: { rejected: "no" } });
    const csv = await openCsv(path, people);
    expect(csv.header.warnings).toEqual([expect.stringContaining("Shoe Size")]);
    await csv.close();
    const summary = await run(path, to);
    expect(to.batches).toEqual([["P9", "P4"]]);
    expect(readFileSync(String(summary.rejected_file), "utf8")).toBe(
      'passport_no,name,Shoe Size,line,reason\nP9,Zoe,"4,0",2,no\n',
    );
  });

  test("a rejected file holds no formula, and repeated imports read the original values", async () => {
    const formulas = [
      "=1+1",
      "@SUM(A1)",
      "+A1",
      "-2+3",
      "-cmd|'/C calc'!A0",
      "\tx",
      "a\rb",
      "'=1+1",
      "''@x",
      "＝1+1",
      "＋A1",
      "－cmd",
      "＠SUM(A1)",
      "﹦1",
      "=a\r\nb",
    ];
    const harmless = ["+61400123456", "-12.5", "'tis", "+1e3", "a=b", "'", "O'Neil", "+", "-.5"];
    const notes = [...formulas, ...harmless, "+61 400 123", "\r=1"];
    // As a person's own program writes them: an apostrophe before a formula is the sign for text already.
    const meant = notes.map((note) => note.replace(/^'(?='*[=@+＝＋－＠﹦-])/, ""));
    const records = notes.map((note) => ["X", "Ada", note]);
    let path = folder.file(stringify([["passport_no", "name", "note"], ...records], { quoted: true }));
    for (const round of [1, 2, 3]) {
      const read = await readAll(path, people);
      expect(
        read.map(({ raw }) => raw[2]),
        `round ${round}`,
      ).toEqual(meant);
      path = String((await run(path, receiver())).rejected_file);
      const cells = parse(readFileSync(path)).map(([, , note]: string[]) => note ?? "");
      for (const cell of cells) expect(cell).not.toMatch(/^([=@＝＠﹦\t\r]|[+＋－-](?!(\d+(\.\d+)?|\.\d+)(e\d+)?$))/);
      expect(cells).toEqual(expect.arrayContaining(["'=1+1", "'@SUM(A1)", "+61400123456", "-12.5", "O'Neil"]));
    }
  });

  test("the rejected file has the source's format, and renames its reason column if that is taken", async () => {
    const path = folder.file(
      "\ufeffpassport_country;passport_no;result;reason\r\nDEU;;verified;a;b\r\n",
      "verdicts.csv",
    );
    const csv = await openCsv(path, passportVerdictsCsv);
    const summary = await importRows({
      csv,
      check: () => ({ problems: ["no"] }),
      send: async () => [],
      batchSize: () => 1,
      now: () => 0,
    });
    await csv.close();
    expect(readFileSync(String(summary.rejected_file), "utf8")).toBe(
      "\ufeffpassport_country;passport_no;result;reason;line;rejected_reason\n" +
        "DEU;;verified;a;2;has 5 fields where the header has 4: " +
        "a semicolon within a value needs quotes around the value;b\n",
    );
  });

  test("a stale rejected file is removed when nothing is rejected, even if it is a link", async () => {
    const target = folder.file("precious", "target.txt");
    symlinkSync(target, folder.path("people.rejected.csv"));
    const clean = await run(folder.file("passport_no,name\nP1,Ada\n"), receiver());
    expect(clean.rejected_file).toBeNull();
    expect(existsSync(folder.path("people.rejected.csv"))).toBe(false);

    symlinkSync(target, folder.path("people.rejected.csv"));
    await run(folder.file("passport_no,name\nX,Ada\n"), receiver());
    expect(lstatSync(folder.path("people.rejected.csv")).isSymbolicLink()).toBe(false);
    expect(readFileSync(target, "utf8")).toBe("precious");
  });

  test("a rejected file that cannot be written ends the import before anything is sent", async () => {
    mkdirSync(folder.path("people.rejected.csv"));
    const to = receiver();
    const fault = await refusal(run(folder.file(mixed), to));
    expect(fault.code).toBe("csv_unwritable");
    expect(to.batches).toEqual([]);
  });

  test("a link put in the rejected file's place while the import runs is not followed", async () => {
    const target = folder.file("precious", "target.txt");
    const trap = (row: Person): Checked<string> => {
      if (!existsSync(folder.path("people.rejected.csv"))) symlinkSync(target, folder.path("people.rejected.csv"));
      return check(row);
    };
    expect((await refusal(run(folder.file(mixed), receiver(), { check: trap }))).code).toBe("csv_unwritable");
    expect(readFileSync(target, "utf8")).toBe("precious");
  });

  test("--dry-run sends nothing and writes the rejected file", async () => {
    const to = receiver();
    const summary = await run(folder.file(mixed), to, { dryRun: true });
    expect(to.batches).toEqual([]);
    expect(summary).toMatchObject({ read: 6, imported: 0, rejected: 2 });
    expect(existsSync(folder.path("people.rejected.csv"))).toBe(true);
  });

  test("--strict sends nothing if any row is invalid, otherwise every row", async () => {
    const to = receiver();
    const summary = await run(folder.file(mixed), to, { strict: true });
    expect(to.batches).toEqual([]);
    expect(summary).toMatchObject({ read: 6, imported: 0, rejected: 2 });
    expect(importExitCode(summary)).toBe(1);
    expect(await run(folder.file("passport_no,name\nP1,Ada\n"), to, { strict: true })).toMatchObject({ imported: 1 });
  });

  test("a broken quote late in the file refuses it before anything is sent", async () => {
    const to = receiver();
    const rows = Array.from({ length: 9000 }, (_, index) => `P${index},Ada\n`).join("");
    await refusal(run(folder.file(`passport_no,name\n${rows}P,"Ada`), to));
    expect(to.batches).toEqual([]);
  });

  test("a file that changes between checking and sending is not sent", async () => {
    const path = folder.file(mixed);
    const to = receiver();
    const progress = () => appendFileSync(path, "P6,Flo,\n");
    expect((await refusal(run(path, to, { progress }))).code).toBe("csv_changed");
    expect(to.batches).toEqual([]);
  });

  test("a file that changes while it is sent is named as changed", async () => {
    const path = folder.file(mixed);
    const to = receiver();
    const send = async (batch: readonly ImportItem<string>[]) => {
      appendFileSync(path, "P6,Flo,\n");
      return to.send(batch);
    };
    expect((await refusal(run(path, { send }))).code).toBe("csv_changed");
  });

  test("an interrupt while sending lets the batch in flight finish and be counted, and starts no other", async () => {
    const stop = new AbortController();
    const to = receiver();
    const send = async (batch: readonly ImportItem<string>[]) => {
      stop.abort();
      return to.send(batch);
    };
    const summary = await run(folder.file(mixed), { send }, { signal: stop.signal });
    expect(to.batches).toEqual([["P1", "P2"]]);
    expect(summary).toMatchObject({ read: 6, imported: 2, rejected: 2 });
  });

  test("an interrupt while checking sends nothing", async () => {
    const stop = new AbortController();
    stop.abort();
    const to = receiver();
    expect(await run(folder.file(mixed), to, { signal: stop.signal })).toMatchObject({
      read: 0,
      imported: 0,
      rejected: 0,
    });
    expect(to.batches).toEqual([]);
  });

  test("an error while sending reaches the caller, and the rejected rows are on disk", async () => {
    const send = () => Promise.reject(new Error("the line is cut"));
    await expect(run(folder.file(mixed), { send })).rejects.toThrow("the line is cut");
    expect(readFileSync(folder.path("people.rejected.csv"), "utf8").split("\n")).toHaveLength(4);
  });

  test("a row that becomes invalid between the passes is rejected once", async () => {
    const calls = new Map<string, number>();
    const late = (row: Person): Checked<string> => {
      const times = (calls.get(row.values.passport_no) ?? 0) + 1;
      calls.set(row.values.passport_no, times);
      return row.values.passport_no === "P2" && times > 1 ? { problems: ["midnight passed"] } : check(row);
    };
    const summary = await run(folder.file(mixed), receiver(), { check: late });
    expect(summary).toMatchObject({ read: 6, imported: 3, rejected: 3 });
  });

  test("rejected rows of standard input are written to stdin.rejected.csv", async () => {
    const csv = await openCsv("-", people, { stdin: Readable.from([Buffer.from(mixed)]) });
    const to = receiver();
    const summary = await importRows({
      csv,
      check,
      send: to.send,
      batchSize: () => 200,
      now: () => 0,
      folder: folder.path(),
    });
    await csv.close();
    expect(to.batches).toEqual([["P1", "P2", "P3", "P5"]]);
    expect(summary.rejected_file).toBe(folder.path("stdin.rejected.csv"));
  });

  test.each([
    ["p.csv", "p.rejected.csv"],
    ["dir/P.CSV", "dir/P.rejected.csv"],
    ["p.txt", "p.rejected.csv"],
    ["-", "stdin.rejected.csv"],
    ["/dev/fd/63", "stdin.rejected.csv"],
    ["/dev/stdin", "stdin.rejected.csv"],
    ["/dev/null", "stdin.rejected.csv"],
    ["/dev/shm/p.csv", "/dev/shm/p.rejected.csv"],
    ["/dev/fd/../p.csv", "/dev/p.rejected.csv"],
  ])("bad rows of %s go to %s", async (path, rejected) => {
    expect(await rejectedPath(path)).toBe(rejected);
  });

  test.each([
    [{ imported: 5 }, 0],
    [{ duplicates: 5 }, 0],
    [{ updated: 5 }, 0],
    [{ imported: 1, rejected: 1 }, 3],
    [{ updated: 1, rejected: 1 }, 3],
    [{ duplicates: 1, rejected: 1 }, 3],
    [{ rejected: 2 }, 1],
  ])("ends %j with exit code %i", (counts, code) => {
    const none = { read: 5, imported: 0, updated: 0, duplicates: 0, rejected: 0, rejected_file: null };
    expect(importExitCode({ ...none, ...counts })).toBe(code);
  });

  test("a dry run has the exit code of the run itself", () => {
    const none = { imported: 0, updated: 0, duplicates: 0, rejected_file: null, seconds: 0 };
    expect(importExitCode({ ...none, read: 5, rejected: 0 }, true)).toBe(0);
    expect(importExitCode({ ...none, read: 5, rejected: 2 }, true)).toBe(3);
    expect(importExitCode({ ...none, read: 5, rejected: 5 }, true)).toBe(1);
  });

  test("96,000 rows, a third of them invalid, do not grow the heap", { tags: ["slow"] }, async () => {
    const collect = garbageCollector();
    const path = folder.path("many.csv");
    const rows = function* () {
      yield "passport_no,name,note\n";
      for (let at = 0; at < 96_000; at++) yield `${at % 3 === 0 ? "X" : "P"}${at},Traveler ${at},some note\n`;
    };
    await pipeline(Readable.from(rows()), createWriteStream(path));
    collect();
    const before = process.memoryUsage().heapUsed;
    let peak = 0;
    const progress = ({ done }: { done: number }) => {
      if (done % 16_000 !== 0) return;
      collect();
      peak = Math.max(peak, process.memoryUsage().heapUsed);
    };
    const send = async (batch: readonly ImportItem<string>[]): Promise<RowOutcome[]> => batch.map(() => "imported");
    const summary = await run(path, { send }, { progress, batchSize: () => 200 });
    expect(summary).toMatchObject({ read: 96_000, imported: 64_000, rejected: 32_000 });
    expect(peak).toBeGreaterThan(0);
    // The smallest object that one row could leave behind takes 40 bytes; what else is there weighs little.
    expect((peak - before) / 96_000).toBeLessThan(35);
  });
});
