import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writePassportFile } from "../support/passport-file.ts";
import { type Bench, compare, type Measured, paceOf, type Scale } from "./bench.ts";

const program = join(import.meta.dirname, "..", "..", "bin", "esimctl");

/** Rows of a short list and of a long one, in shares of a scale's items: 1,000 and 100,000 of the full scale. */
const SHARES = [1 / 10, 10];
/** A long list is long enough to be steady. */
const MOST_ROUNDS = 3;

/** `passports list --all` as a table, the whole process, against the same list as JSON: the same at every length. */
export const lists: Bench = async (scale: Scale) => {
  const folder = mkdtempSync(join(tmpdir(), "esimctl-bench-"));
  const esimctl = (line: string) => linesOf([...line.split(" "), "--data", join(folder, "data")]);
  const measured: Measured[] = [];
  try {
    await esimctl("init");
    for (const share of SHARES) {
      const rows = Math.ceil(scale.items * share);
      const partner = `with-${rows}`;
      const file = join(folder, `${rows}.csv`);
      await writePassportFile(file, rows);
      await esimctl(`partners create ${partner} --name Agent --agent`);
      await esimctl(`passports import ${file} --partner ${partner} --sandbox --quiet`);
      const list = `passports list --all --partner ${partner} --sandbox`;
      const listed = (line: string, least: number) => async (items: number) =>
        paceOf(items, async () => {
          const lines = await esimctl(line);
          if (lines < least) throw new Error(`${line} printed ${lines} lines`);
        });
      const what = `passports list --all, ${rows.toLocaleString("en")} rows as a table`;
      const sides = { ours: listed(list, rows + 1), bare: listed(`${list} --json`, rows) };
      const few = { ...scale, rounds: Math.min(scale.rounds, MOST_ROUNDS), items: rows, warmUp: 0 };
      measured.push(await compare(few, { what, peer: "the same as JSON", ...sides }));
    }
    return measured;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/** Runs a command to its end and counts the lines that it prints. */
async function linesOf(args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  let lines = 0;
  child.stdout.on("data", (chunk: Buffer) => {
    for (const byte of chunk) if (byte === 10) lines += 1;
  });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}`);
  return lines;
}
