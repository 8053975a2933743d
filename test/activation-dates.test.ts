import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { request } from "./support/activations.ts";
import { csvOf } from "./support/csv-files.ts";
import { newData } from "./support/installation.ts";
import { forAllTests } from "./support/owner.ts";
import { temporaryDirectory } from "./support/store.ts";
import { esimctl } from "./support/warm.ts";

// Moving, cancelling and finding activations by their dates.

const DAYS = ["2031-03-09", "2031-03-10", "2031-03-10", "2031-03-12"];

/** An installation whose partner asked for four SIMs, by name and day. */
async function requests(folder = temporaryDirectory()) {
  const data = join(folder, "data");
  await newData(folder);
  const json = async (args: string[], exitCode = 0) => {
    const ended = await esimctl([...args, "--data", data, "--json"]);
    expect(ended, args.join(" ")).toMatchObject({ exitCode });
    return JSON.parse(ended.stdout);
  };
  await json(["partners", "create", "agency", "--name", "Agency", "--agent"]);
  const as = ["--partner", "agency", "--sandbox"];
  const sims = DAYS.map((activation_date, at) => {
    const last_name = ["Underwold", "Underwold", "Miller", "Smith"][at] ?? "";
    const names = { last_name, passport_no: `PX10000${at}` };
    return request({ ...names, activation_date, passport_expiry: "2034-01-01" });
  });
  writeFileSync(join(folder, "sims.csv"), csvOf(sims));
  await json(["activations", "submit", join(folder, "sims.csv"), ...as]);
  const iccids = sims.map(({ iccid }) => String(iccid));
  const dates = async () => {
    const { data: rows } = (await json(["activations", "list", ...as])) as { data: Listed[] };
    return iccids.map((iccid) => rows.find((row) => row.iccid === iccid)?.activation_date);
  };
  return { folder, data, as, json, iccids, dates };
}

interface Listed {
  iccid: string;
  activation_date: string;
  status: string;
}

describe("activations by date", () => {
  const shared = forAllTests((owner) => requests(temporaryDirectory(owner)));
  const json = (line: string, exit = 0) => shared().json(["activations", ...line.split(" "), ...shared().as], exit);
  const run = (line: string) =>
    esimctl(["activations", ...line.split(" "), ...shared().as, "--data", shared().data], { cwd: shared().folder });
  test("list takes a day or a range, both ends included, of a partner and of all", async () => {
    const counted = async (line: string) => (await json(`list ${line}`)).count;
    expect(await counted("--date 2031-03-10")).toBe(2);
    expect(await counted("--from 2031-03-10 --to 2031-03-12")).toBe(3);
    expect(await counted("--to 2031-03-09 --status pending")).toBe(1);
    expect(await counted(`--from 2031-03-10 --iccid ${shared().iccids[0]}`)).toBe(0);
    const all = ["activations", "list", "--sandbox", "--from", "2031-03-10", "--to", "2031-03-10"];
    expect(await shared().json(all)).toMatchObject({ count: 2, data: [{ partner: "agency" }, { partner: "agency" }] });
    const first = await json("list --from 2031-03-10 --limit 2");
    const rest = await json(`list --from 2031-03-10 --limit 2 --cursor ${first.pagination.next_cursor}`);
    expect([first.count, rest.count]).toEqual([2, 1]);
  });

  test("days that cannot be, or are given twice, are refused", async () => {
    for (const [line, words] of [
      ["list --from 2031-02-30", "--from <date> must be a day"],
      ["cancel --from 2031-03-10 --to 2031-03-09 --yes", "--from 2031-03-10 is after --to 2031-03-09"],
      ["list --date 2031-03-10 --to 2031-03-12", "--date and --to exclude each other"],
      [`cancel --date 2031-03-10 --iccid ${shared().iccids[0]} --yes`, "Name what is meant in one way"],
      ["reschedule --from 2031-03-10 --yes", "Nothing to change"],
      ["reschedule --from 2031-03-10 --date +xd --yes", "a number of days such as +2d"],
    ] as const) {
      expect(await run(line), line).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(words) });
    }
    const none = await run("cancel --date 2031-03-11 --yes");
    expect(none).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("no activation on 2031-03-11") });
  });

  test("a dry run shows old and new, and changes nothing; off a terminal a range asks", async () => {
    const line = "reschedule --from 2031-03-10 --to 2031-03-10 --date +2d --note later";
    const { dry_run, changes } = await json(`${line} --dry-run`);
    expect(dry_run).toBe(true);
    expect(changes).toHaveLength(2);
    for (const one of changes) {
      const move = { activation_date: "2031-03-10", new_date: "2031-03-12", new_note: "later", refused: null };
      expect(one).toMatchObject(move);
    }
    const { stdout } = await run(`${line} --dry-run`);
    expect(stdout).toMatch(/2031-03-10 +2031-03-12/);
    expect(stdout).toContain("Nothing was changed.");
    expect(await run(line)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("--yes") });
    expect(await run("cancel --date 2031-03-12")).toMatchObject({ exitCode: 2 });
    const { changes: gone } = await json("cancel --date 2031-03-12 --dry-run");
    expect(gone).toMatchObject([{ iccid: shared().iccids[3], activation_date: "2031-03-12", refused: null }]);
    expect(await shared().dates()).toEqual(DAYS);
  });

  test("a file is shown before it acts too: its own days, moves by days, and what is not open", async () => {
    const [first, second] = shared().iccids;
    const lines = [`${first},2031-04-01`, `${second},`, "8961000000000000000,", ",2031-04-01"];
    writeFileSync(join(shared().folder, "moves.csv"), ["iccid,requested_activation_date", ...lines].join("\n"));
    const { changes, rejected } = await json(
      `reschedule --file ${join(shared().folder, "moves.csv")} --date +7d --dry-run`,
    );
    expect(rejected).toBe(1);
    expect(changes).toMatchObject([
      { iccid: first, activation_date: "2031-03-09", new_date: "2031-04-01" },
      { iccid: second, activation_date: "2031-03-10", new_date: "2031-03-17" },
    ]);
    expect(await shared().dates()).toEqual(DAYS);
    const moved = await json(`reschedule --file ${join(shared().folder, "moves.csv")} --date +7d --yes`, 3);
    expect(moved).toMatchObject({ summary: { total: 3, successful: 2, failed: 1 }, rejected: 1 });
    expect(await shared().dates()).toEqual(["2031-04-01", "2031-03-17", "2031-03-10", "2031-03-12"]);
  });

  test("a range is moved by days, back too, and cancelled", async () => {
    expect(await json("reschedule --from 2031-03-10 --to 2031-03-12 --date=-1d --yes")).toMatchObject({
      summary: { successful: 2, failed: 0 },
    });
    expect(await shared().dates()).toEqual(["2031-04-01", "2031-03-17", "2031-03-09", "2031-03-11"]);
    expect(await json("cancel --date 2031-04-01 --yes")).toMatchObject({ summary: { successful: 1 } });
    expect((await json("list --status cancelled")).data).toMatchObject([{ iccid: shared().iccids[0] }]);
    // What is cancelled is not open: the range passes it by.
    const none = await run("reschedule --date +1d --to 2031-03-05 --yes");
    expect(none).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("There is no activation to 2031-03-05"),
    });
  });
});

describe("find", () => {
  test("takes a name with the end of a number, with a day, and a day alone", async () => {
    const { json, iccids, as } = await requests();
    const iccidsOf = async (...what: string[]) => {
      const { matched } = await json(["find", ...what]);
      return matched.map(({ name }: { name: string }) => name).toSorted();
    };
    const [first = "", second = "", third = ""] = iccids;
    expect(await iccidsOf("underwold")).toEqual([first, second].toSorted());
    expect(await iccidsOf("underwold", second.slice(-6))).toEqual([second]);
    expect(await iccidsOf("phil", "under")).toEqual([first, second].toSorted());
    expect(await iccidsOf(`phil under ${first.slice(-6)}`)).toEqual([first]);
    expect(await iccidsOf("underwold", "2031-03-10")).toEqual([second]);
    expect(await iccidsOf("2031-03-10")).toEqual([second, third].toSorted());
    expect(await json(["find", "miller", "2031-03-09"], 1)).toMatchObject({ error: { code: "not_found" } });
    const own = await json(["find", "2031-03-10", "miller", ...as]);
    expect(own).toMatchObject({ count: 1, data: [{ name: third, person: "Philippa Miller" }] });
  });
});
