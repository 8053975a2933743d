import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { LogRecord } from "../src/daemon/log/filter.ts";
import { type LogFile, openLogFile } from "../src/daemon/log/log-file.ts";
import { followRecords, lastRecords } from "../src/daemon/log/read.ts";
import { logFiles } from "../src/daemon/log/rotating-file.ts";
import { temporaryDirectory } from "./support/store.ts";

const MAX_BYTES = 2_000;

/** A log of small files, and what it warned of. */
function smallLog(maxBytes = MAX_BYTES) {
  const folder = join(temporaryDirectory(), "data", "logs");
  const warnings: string[] = [];
  const open = (): LogFile => {
    const file = openLogFile(folder, { warn: (words) => warnings.push(words), maxBytes });
    onTestFinished(() => file.close());
    return file;
  };
  const sizes = () => readdirSync(folder).map((name) => statSync(join(folder, name)).size);
  return { folder, warnings, open, sizes, names: () => readdirSync(folder).sort() };
}

const line = (n: number) => `${JSON.stringify({ n, request_id: `call-${n % 10}`, pad: "x".repeat(150) })}\n`;
const numbers = (records: LogRecord[]) => records.map(({ n }) => n);

/** Writes lines over several files: a file is rotated when the buffer is written. */
async function writeInFiles(open: () => LogFile, files: number, lines: number): Promise<void> {
  for (let file = 0; file < files; file++) {
    const log = open();
    for (let at = 0; at < lines; at++) log.write(line(file * lines + at));
    await log.close();
  }
}

test("a full file is rotated, five are kept, readable by their owner only", async () => {
  const { folder, open, names, warnings } = smallLog();
  await writeInFiles(open, 7, 20);
  expect(names()).toEqual(["serve.1.log", "serve.2.log", "serve.3.log", "serve.4.log", "serve.log"]);
  expect(names().map((name) => statSync(join(folder, name)).mode & 0o777)).toEqual(names().map(() => 0o600));
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(warnings).toEqual([]);

  const all = await lastRecords(folder, { most: 1_000 });
  expect(numbers(all.records)).toEqual(Array.from({ length: 100 }, (_, n) => n + 40));
  expect(numbers((await lastRecords(folder, { most: 30 })).records)).toEqual(numbers(all.records).slice(-30));
  const mine = await lastRecords(folder, { most: 1_000, requestId: "call-3" });
  expect(numbers(mine.records)).toEqual([43, 53, 63, 73, 83, 93, 103, 113, 123, 133]);
});

test("a long line in the log, and the next one, are read in pieces", async () => {
  const folder = join(temporaryDirectory(), "logs");
  mkdirSync(folder);
  const long = JSON.stringify({ n: 1, pad: "é".repeat(300_000) });
  writeFileSync(join(folder, "serve.log"), `${line(0)}${long}\n${line(2)}{"n":3`);
  const { records, end } = await lastRecords(folder, { most: 9 });
  expect(numbers(records)).toEqual([0, 1, 2]);
  expect(records[1]).toEqual(JSON.parse(long));
  expect(end?.offset).toBe(Buffer.byteLength(`${line(0)}${long}\n${line(2)}`));
  expect(numbers((await lastRecords(folder, { most: 2 })).records)).toEqual([1, 2]);
  // A file without a line end is no line yet, however long it is.
  writeFileSync(join(folder, "serve.log"), "x".repeat(3 * 1024 * 1024));
  expect((await lastRecords(folder, { most: 9 })).records).toEqual([]);
});

test("tailing follows the rotation of files, and prints each line once", async () => {
  const { folder, open } = smallLog();
  const log = open();
  log.write(line(0));
  await expect.poll(async () => (await lastRecords(folder, { most: 9 })).records.length).toBe(1);
  const { end } = await lastRecords(folder, { most: 9 });
  const ending = new AbortController();
  const seen: LogRecord[] = [];
  const following = followRecords(folder, { from: end, signal: ending.signal }, (records) => seen.push(...records));
  for (let n = 1; n <= 60; n++) {
    log.write(line(n));
    if (n % 20 === 0) await expect.poll(() => seen.length).toBe(n);
  }
  ending.abort();
  await following;
  expect(numbers(seen)).toEqual(Array.from({ length: 60 }, (_, n) => n + 1));
  expect((await lastRecords(folder, { most: 1 })).end).not.toEqual(end);
});

test("a log that was moved or removed continues in a new file", async () => {
  const { folder, open } = smallLog();
  const log = open();
  const [path = ""] = logFiles(folder);
  const written = () => {
    try {
      return readFileSync(path, "utf8");
    } catch {
      return "";
    }
  };
  log.write(line(1));
  await expect.poll(written).toContain('"n":1,');
  renameSync(path, join(folder, "taken-away"));
  log.write(line(2));
  await expect.poll(written).toContain('"n":2,');
  rmSync(folder, { recursive: true });
  log.write(line(3));
  await expect.poll(written).toContain('"n":3,');
  expect(written()).not.toContain('"n":2,');
});

test("a log that cannot be written is reported once, blocks nothing, and counts lost lines", async () => {
  const { folder, open, warnings } = smallLog();
  // A file in the place of its folder: no user can write there.
  mkdirSync(dirname(folder));
  writeFileSync(folder, "");
  const log = open();
  for (let n = 0; n < 3; n++) {
    log.write(line(n));
    log.write(line(n));
    // What waits is written, or not, before it is closed; a later line opens it again.
    await log.close();
  }
  expect(warnings).toEqual([expect.stringMatching(/^The log .* cannot be written: EEXIST\. Serving goes on/)]);
  rmSync(folder);
  log.write(line(3));
  await log.close();
  const { records } = await lastRecords(folder, { most: 9 });
  expect(records).toMatchObject([{ level: "warn", msg: "6 lines of this log were lost" }, { n: 3 }]);
  expect(warnings).toHaveLength(1);
});

test("lines that wait are written whole and in their order, however many and in whatever script", async () => {
  const { folder, open } = smallLog();
  const log = open();
  const lines = Array.from({ length: 400 }, (_, n) => `${JSON.stringify({ n, pad: "zł é 東京 😀".repeat(n % 60) })}\n`);
  // Longer than all that waits before it.
  lines.push(`${JSON.stringify({ pad: "東".repeat(300_000) })}\n`, line(1));
  for (const one of lines) log.write(one);
  await log.close();
  expect(readFileSync(join(folder, "serve.log"), "utf8")).toBe(lines.join(""));
});

test("lines that come while others are written follow them", async () => {
  const { folder, open } = smallLog(1_000_000_000);
  const path = join(folder, "serve.log");
  const log = open();
  const lines: string[] = [];
  const sizes = new Set([0]);
  // Some of them come amid each write.
  while (sizes.size < 6) {
    lines.push(`${lines.length}\n`);
    log.write(lines.at(-1) ?? "");
    await nextTurn();
    if (existsSync(path)) sizes.add(statSync(path).size);
  }
  await log.close();
  // Whether they are the same: a difference between megabytes takes minutes to print.
  expect(readFileSync(path, "utf8") === lines.join("")).toBe(true);
});

test("lines of a process that ends before it has written any are in the file", () => {
  const { folder, open, warnings } = smallLog();
  const file = open();
  file.write(line(1));
  file.flushSync();
  expect(readFileSync(join(folder, "serve.log"), "utf8")).toBe(line(1));
  expect(warnings).toEqual([]);
});

test("at the end of the process each line is written once, also those that are being appended", async () => {
  const { folder, open } = smallLog();
  const path = join(folder, "serve.log");
  const log = open();
  log.write(line(0));
  // Its file is made right before the line goes into it.
  while (!existsSync(path)) await nextTurn();
  log.write(line(1));
  log.flushSync();
  expect(readFileSync(path, "utf8")).toBe(line(0) + line(1));
  // Now a line is in the file, and the log may not know it yet.
  log.write(line(2));
  while (!readFileSync(path, "utf8").endsWith(line(2))) await nextTurn();
  log.write(line(3));
  log.flushSync();
  await log.close();
  expect(readFileSync(path, "utf8")).toBe([0, 1, 2, 3].map(line).join(""));
});
