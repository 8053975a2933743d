import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { demoData } from "./support/installation.ts";
import { temporaryDirectory } from "./support/store.ts";
import { esimctl, esimctlJson } from "./support/warm.ts";

/** A demo installation with two delivered eSIMs. */
async function delivered() {
  const { data } = await demoData();
  const json = async (...args: string[]) => Object(await esimctlJson([...args, "--data", data]));
  const order = ["orders", "create", "--partner", "demo", "--product", "ES-EU-5GB-30D", "--quantity", "2"];
  const { id } = await json(...order);
  const { esims } = await json("orders", "esims", id, "--partner", "demo");
  const [one = "", two = ""] = esims.map(({ iccid }: { iccid: string }) => iccid);
  const file = join(temporaryDirectory(), "usage.csv");
  const imported = async (lines: string[], ...more: string[]) => {
    writeFileSync(file, lines.join("\n"));
    const ended = await esimctl(["esims", "usage", "import", file, ...more, "--data", data, "--json"]);
    return { exitCode: ended.exitCode, ...JSON.parse(ended.stdout) };
  };
  const used = async (iccid: string) => {
    const { data_usage } = await json("esims", "status", iccid, "--partner", "demo");
    return [data_usage.used_mb, data_usage.total_mb];
  };
  const rejected = () => readFileSync(file.replace(".csv", ".rejected.csv"), "utf8");
  return { one, two, imported, used, rejected };
}

test("the unit is that of the column's name, or of --unit; without one the file is refused", async () => {
  const { one, two, imported, used } = await delivered();
  const refused = await imported(["ICCID,Used,Total", `${one},120,5120`]);
  expect(refused).toMatchObject({ exitCode: 1, error: { message: expect.stringContaining('"Used" has no unit') } });
  expect(refused.error.hint).toContain("--unit");
  const bytes = `${one},${3 * 1024 ** 2},5`;
  expect(await imported(["ICCID,used_bytes,Total (GB)", bytes])).toMatchObject({ exitCode: 0, imported: 1 });
  expect(await used(one)).toEqual([3, 5120]);
  expect(await imported(["iccid,Used (KB),total gb", `${two},2048,1.5`])).toMatchObject({ imported: 1 });
  expect(await used(two)).toEqual([2, 1536]);
  expect(await imported(["iccid,Used", `${two},0.5`], "--unit", "gb")).toMatchObject({ updated: 1 });
  expect(await used(two)).toEqual([512, 1536]);
});

test("times are read as networks write them, the newest wins, and a time without a zone is named", async () => {
  const { one, two, imported, used, rejected } = await delivered();
  const lines = [
    `${one},300,2026-03-01 09:30:00.123456+0100`,
    `${one},200,2026-02-28T09:30:00Z`,
    `${two},7,2026-03-01 09:30`,
  ];
  expect(await imported(["iccid,used_mb,timestamp", ...lines])).toMatchObject({ exitCode: 3, rejected: 1 });
  expect(await used(one)).toMatchObject([300, expect.anything()]);
  expect(rejected()).toContain("at must be a time with its zone");
});

test("several rows of one eSIM without a time are refused, and --sum adds sessions up", async () => {
  const { one, two, imported, used, rejected } = await delivered();
  const rows = ["iccid,used_mb", `${one},10`, `${one},20`, `${two},5`];
  expect(await imported(rows)).toMatchObject({ exitCode: 3, imported: 1, rejected: 2 });
  expect(rejected()).toContain("iccid is on lines 2 and 3 without a time");
  expect(await imported(rows, "--sum")).toMatchObject({ exitCode: 0, imported: 1, rejected: 0 });
  expect(await used(one)).toMatchObject([30, expect.anything()]);
});

test("a row that is bad by itself leaves the others of its eSIM alone", async () => {
  const { one, imported, used, rejected } = await delivered();
  const rows = ["iccid,used_mb,at", `${one},-5,`, `${one},100,2026-02-27T22:30:00Z`];
  expect(await imported(rows)).toMatchObject({ exitCode: 3, imported: 1, rejected: 1 });
  expect(rejected()).not.toContain("without a time");
  expect(await used(one)).toMatchObject([100, expect.anything()]);
});

test("falling usage and usage over ten times the plan are warned of", async () => {
  const { one, two, imported } = await delivered();
  const rows = [`${one},20,,2026-03-01T09:00:00Z`, `${one},10,,2026-03-02T09:00:00Z`, `${two},6000,500,`];
  const { warnings } = await imported(["iccid,used_mb,total_mb,at", ...rows]);
  expect(warnings.map(({ reason, rows }: { reason: string; rows: number }) => [rows, reason])).toEqual([
    [2, "used_mb falls with time (records by session? --sum)"],
    [1, "used_mb is over 10 times the plan: is its unit right?"],
  ]);
});
