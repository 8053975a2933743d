import { appendFileSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type ImportJob, importRows } from "../src/cli/csv/import.ts";
import { openCsv } from "../src/cli/csv/open.ts";
import { csvFolder, people, refusal } from "./support/csv-files.ts";

const folder = csvFolder();
type Job = ImportJob<"passport_no" | "name" | "note", string>;

/** Batches whose rows are made ready while the one before is sent, which ends when a test says so. */
function gathered() {
  const seen: string[] = [];
  const ends: { stored(): void; failed(error: Error): void }[] = [];
  let begun = 0;
  const gather = () => {
    const number = ++begun;
    const values: string[] = [];
    return {
      add: (value: string) => void seen.push(`${number} has ${values.push(value) && value}`),
      send() {
        seen.push(`${number} is sent`);
        const { promise, resolve, reject } = Promise.withResolvers<"imported"[]>();
        ends.push({ stored: () => resolve(values.map(() => "imported")), failed: reject });
        return promise;
      },
    };
  };
  const send = () => Promise.reject(new Error("nothing is sent row by row"));
  return { seen, ends, gather, send };
}
const four = "passport_no,name,note\nP1,A,\nP2,B,\nP3,C,\nP4,D,\n";

async function run(path: string, to: Pick<Job, "send" | "gather">, more: Partial<Job> = {}) {
  const csv = await openCsv(path, people);
  const check: Job["check"] = ({ values }) => ({ ok: values.passport_no });
  try {
    return await importRows({
      csv,
      check,
      ...to,
      batchSize: () => 2,
      now: () => 0,
      folder: folder.path(),
      ...more,
    });
  } finally {
    await csv.close();
  }
}

test("rows are made ready while the batch before them is sent, which ends before they are", async () => {
  const to = gathered();
  const running = run(folder.file(four), to);
  await expect.poll(() => to.seen.at(-1)).toBe("2 has P4");
  expect(to.seen).toEqual(["1 has P1", "1 has P2", "1 is sent", "2 has P3", "2 has P4"]);
  to.ends[0]?.stored();
  await expect.poll(() => to.seen.at(-1)).toBe("2 is sent");
  to.ends[1]?.stored();
  expect(await running).toMatchObject({ read: 4, imported: 4 });
});

test("after a batch that fails, the one that is ready is not sent", async () => {
  const to = gathered();
  const running = run(folder.file(four), to);
  await expect.poll(() => to.seen.at(-1)).toBe("2 has P4");
  to.ends[0]?.failed(new Error("the disk is full"));
  await expect(running).rejects.toThrow("the disk is full");
  expect(to.ends).toHaveLength(1);
});

test("an interrupt counts the batch under way, and does not send the one that is ready", async () => {
  const stop = new AbortController();
  const to = gathered();
  const running = run(folder.file(four), to, { signal: stop.signal });
  await expect.poll(() => to.seen.at(-1)).toBe("2 has P4");
  stop.abort();
  to.ends[0]?.stored();
  expect(await running).toMatchObject({ read: 4, imported: 2 });
  expect(to.ends).toHaveLength(1);
});

/** Sends all batches at once, and notes beside them which rows are checked. */
function checked(bad: readonly string[] = []) {
  const { seen, gather: gathering, send } = gathered();
  const check: Job["check"] = ({ values: { passport_no } }) => {
    seen.push(`check ${passport_no}`);
    return bad.includes(passport_no) ? { problems: ["is bad"] } : { ok: passport_no };
  };
  const gather = () => {
    const batch = gathering();
    let rows = 0;
    const add = (value: string) => {
      rows += 1;
      batch.add(value);
    };
    const sent = async () => {
      void batch.send();
      return new Array<"imported">(rows).fill("imported");
    };
    return { add, send: sent };
  };
  return { seen, to: { gather, send }, check };
}

test("a file in which no row can break off the others is read once, and its bad rows are rejected", async () => {
  const { seen, to, check } = checked(["P2", "P4"]);
  const progress: string[] = [];
  const path = folder.file(`${four}P5,E,\n`);
  const summary = await run(path, to, {
    check,
    progress: ({ phase, done, total }) => progress.push(`${phase} ${done}/${total}`),
  });
  expect(summary).toMatchObject({ read: 5, imported: 3, rejected: 2, reasons: [{ rows: 2, example: { line: 3 } }] });
  expect(seen.filter((one) => one.startsWith("check"))).toEqual([1, 2, 3, 4, 5].map((one) => `check P${one}`));
  expect(seen.indexOf("1 is sent")).toBeLessThan(seen.indexOf("check P4"));
  expect(progress).toEqual(["send 0/5", "send 3/5", "send 5/5", "send 5/5"]);
  expect(readFileSync(String(summary.rejected_file), "utf8")).toMatch(/^P2.*\nP4/m);
});

test("a file with quotes, or imported whole or not, is checked to its end before a row is sent", async () => {
  const quoted = checked();
  await run(folder.file(four.replace("D", '"D"')), quoted.to, { check: quoted.check });
  expect(quoted.seen.indexOf("check P4")).toBeLessThan(quoted.seen.indexOf("1 has P1"));
  const broken = checked();
  const path = folder.file(`${four}P5,"E,\n`);
  expect((await refusal(run(path, broken.to, { check: broken.check }))).code).toBe("csv_invalid");
  const long = checked();
  const endless = folder.file(`${four}P5,${"E".repeat(300_000)}`);
  expect((await refusal(run(endless, long.to, { check: long.check }))).code).toBe("csv_invalid");
  const strict = checked(["P4"]);
  expect(await run(folder.file(four), strict.to, { check: strict.check, strict: true })).toMatchObject({ rejected: 1 });
  for (const { seen } of [broken, long, strict]) expect(seen.filter((one) => !one.startsWith("check"))).toEqual([]);
});

test("nothing more is sent of a file that has changed", async () => {
  const { seen, to, check } = checked();
  const path = folder.file(four);
  const changing: Job["check"] = (row) => {
    if (row.values.passport_no === "P4") appendFileSync(path, "P5,E,\n");
    return check(row);
  };
  expect((await refusal(run(path, to, { check: changing }))).code).toBe("csv_changed");
  expect(seen.filter((one) => one.endsWith("sent"))).toEqual(["1 is sent"]);
});
