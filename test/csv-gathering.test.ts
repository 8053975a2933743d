import { expect, test } from "vitest";
import { type ImportJob, importRows } from "../src/cli/csv/import.ts";
import { openCsv } from "../src/cli/csv/open.ts";
import { csvFolder, people } from "./support/csv-files.ts";

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

async function run(path: string, to: Pick<Job, "send" | "gather">, signal?: AbortSignal) {
  const csv = await openCsv(path, people);
  const check: Job["check"] = ({ values }) => ({ ok: values.passport_no });
  try {
    const stopping = signal === undefined ? {} : { signal };
    return await importRows({
      csv,
      check,
      ...to,
      batchSize: () => 2,
      now: () => 0,
      folder: folder.path(),
      ...stopping,
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
  const running = run(folder.file(four), to, stop.signal);
  await expect.poll(() => to.seen.at(-1)).toBe("2 has P4");
  stop.abort();
  to.ends[0]?.stored();
  expect(await running).toMatchObject({ read: 4, imported: 2 });
  expect(to.ends).toHaveLength(1);
});
