/** @module-tag slow */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { documentOf, esimctlJson } from "../support/cli.ts";
import { writePassportFile } from "../support/passport-file.ts";
import { launchCommand, program } from "../support/process.ts";
import { temporaryDirectory } from "../support/store.ts";

const ROWS = 50_000;
const MOST_MB = 400;

test("50,000 passports are imported with flat memory, and a second run imports nothing", async () => {
  const folder = temporaryDirectory();
  const data = join(folder, "data");
  const file = join(folder, "passports.csv");
  await writePassportFile(file, ROWS);
  await esimctlJson(["init", "--data", data]);
  await esimctlJson(["partners", "create", "acme", "--name", "Acme", "--agent", "--data", data]);

  const first = await measured(["passports", "import", file, "--partner", "acme", "--sandbox", "--data", data]);
  expect(first.summary).toMatchObject({ read: ROWS, imported: ROWS, duplicates: 0, rejected: 0 });
  expect(first.peakMb).toBeLessThan(MOST_MB);
  const second = await measured(["passports", "import", file, "--partner", "acme", "--sandbox", "--data", data]);
  expect(second.summary).toMatchObject({ read: ROWS, imported: 0, duplicates: ROWS, rejected: 0 });
  expect(second.peakMb).toBeLessThan(MOST_MB);
  console.log(
    `${ROWS} rows: ${Math.round(ROWS / first.summary.seconds)} a second, peak ${Math.round(first.peakMb)} MB; ` +
      `again: ${Math.round(ROWS / second.summary.seconds)} a second, peak ${Math.round(second.peakMb)} MB`,
  );
});

/** Runs the program and returns its output and the peak memory of its process. */
async function measured(args: string[]) {
  const note = join(temporaryDirectory(), "peak");
  const hook = `process.on("exit", () => process.getBuiltinModule("fs").writeFileSync(${JSON.stringify(note)},
    String(process.resourceUsage().maxRSS)))`;
  const preload = `data:text/javascript,${encodeURIComponent(hook)}`;
  const ended = await launchCommand(process.execPath, ["--import", preload, program, ...args, "--json"]).ended;
  return { summary: Object(documentOf(args, ended)), peakMb: Number(readFileSync(note, "utf8")) / 1024 };
}
