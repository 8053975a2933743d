import { readdirSync, readlinkSync } from "node:fs";
import { eq, like } from "drizzle-orm";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { PartnerId } from "../src/core/kernel/brand.ts";
import type { Environment } from "../src/core/kernel/environment.ts";
import type { Owner } from "../src/core/kernel/owner.ts";
import { insert } from "../src/core/store/rows.ts";
import type { Read, Tx } from "../src/core/store/store.ts";
import { createWriteQueue } from "../src/core/store/write/write-queue.ts";
import { property } from "./support/rounds.ts";
import { onPostgres, openTestStore } from "./support/store.ts";

test("a write at any moment after another is executed", async () => {
  const { store } = await openTestStore({ now: () => 1_800_000_000_000 });
  const moment = async (tx: { now: number }) => tx.now;
  for (let microtasks = 0; microtasks < 20; microtasks++) {
    await store.write(moment, null);
    for (let passed = 0; passed < microtasks; passed++) await null;
    expect(await store.write(moment, null)).toBe(1_800_000_000_000);
  }
});

/** Who writes in a test: no rows of theirs are needed. */
const owner = (name: string, environment: Environment): Owner => ({ partnerId: name as PartnerId, environment });

/** A store, and writes that note the moment they run in. */
async function noted() {
  const { store } = await openTestStore({ now: () => 1_800_000_000_000 });
  const ran: string[] = [];
  const note = async (_: unknown, name: string) => void ran.push(name);
  const write = (name: string, whose?: Owner) => store.write(note, name, undefined, whose);
  const writes = (count: number, name: string, whose: Owner) =>
    Array.from({ length: count }, (_, at) => write(`${name}${at}`, whose));
  return { ran, write, writes };
}

test("production is written before waiting writes of the sandbox, also when it is later", async () => {
  const { ran, write, writes } = await noted();
  const sandbox = writes(1_000, "s", owner("a", "sandbox"));
  await Promise.all([write("first", owner("b", "production")), write("own")]);
  expect(ran.slice(0, 2)).toEqual(["first", "own"]);
  // The sandbox makes progress by a few writes in the same batch.
  expect(ran.length).toBeLessThanOrEqual(6);
  const before = ran.length;
  await write("later", owner("b", "production"));
  expect(ran.indexOf("later") - before).toBeLessThanOrEqual(16);
  await Promise.all(sandbox);
  expect(ran.filter((name) => name.startsWith("s"))).toEqual(Array.from({ length: 1_000 }, (_, at) => `s${at}`));
});

test("owners take turns, each in the order of its own writes", async () => {
  const { ran, writes } = await noted();
  const many = writes(300, "a", owner("a", "production"));
  await Promise.all(writes(3, "b", owner("b", "production")));
  expect(ran.slice(0, 6)).toEqual(["a0", "b0", "a1", "b1", "a2", "b2"]);
  await Promise.all(many);
});

test("a batch that production makes late has one write of the sandbox", () => {
  const queue = createWriteQueue<string>(50);
  for (const name of ["p0", "p1", "p2"]) queue.push(name, owner("a", "production"));
  for (const name of ["s0", "s1"]) queue.push(name, owner("b", "sandbox"));
  const taken = { production: 0, sandbox: 0 };
  expect([0, 60, 60, 60].map((elapsed) => queue.next(taken, elapsed))).toEqual(["p0", "s0", null, null]);
  expect(taken).toEqual({ production: 1, sandbox: 1 });
});

test("the sandbox makes progress while production never pauses", async () => {
  const { write } = await noted();
  let done = false;
  const busy = Promise.all(
    Array.from({ length: 200 }, async (_, at) => {
      while (!done) await write(`p${at}`, owner(`p${at}`, "production"));
    }),
  );
  for (let at = 0; at < 20; at++) await write("s", owner("a", "sandbox"));
  done = true;
  await busy;
});

test("closing a store finishes the batch under way and refuses waiting writes", async () => {
  const { store, again } = await openTestStore({ now: () => 1_800_000_000_000 });
  const closing = await again();
  const note = (tx: Tx, at: number) => insert(tx, "settings", [{ key: `note ${at}`, value: "kept" }]);
  const writes = Array.from({ length: 1_000 }, (_, at) => closing.write(note, at, undefined, owner("a", "sandbox")));
  const all = Promise.allSettled(writes);
  await writes[0];
  await closing.close();
  const ended = await all;
  const kept = ended.flatMap(({ status }, at) => (status === "fulfilled" ? [at] : []));
  expect(kept.length).toBeGreaterThan(0);
  expect(kept.length).toBeLessThan(100);
  expect(ended.at(-1)).toMatchObject({ status: "rejected", reason: { code: "unavailable", reason: "closed" } });
  // Each that was answered is there, and no other.
  const stored = await store.read((q: Read) => q.db.select().from(q.t.settings), null);
  const noted = stored.filter(({ key }) => key.startsWith("note ")).map(({ key }) => Number(key.slice(5)));
  expect(noted.sort((a, b) => a - b)).toEqual(kept);
  await expect(closing.write(note, 1_001)).rejects.toMatchObject({ reason: "closed" });
});

/** A write of a batch: it keeps its value, is refused before or after it has written, or meets a row that is there. */
const someWrite = fc.record({
  kind: fc.constantFrom("keep", "keep", "keep", "refuse", "undo", "replace"),
  key: fc.integer({ min: 0, max: 8 }).map((at) => `mixed ${at}`),
});

type MixedWrite = typeof someWrite extends fc.Arbitrary<infer W> ? W & { value: string } : never;

async function mixed(tx: Tx, { kind, key, value }: MixedWrite): Promise<string> {
  if (kind === "refuse") throw new Error("refused");
  if (kind === "replace") await tx.db.delete(tx.t.settings).where(eq(tx.t.settings.key, key));
  await insert(tx, "settings", [{ key, value }]);
  if (kind === "undo") throw new Error("taken back");
  return value;
}

/** What is stored after the same writes one by one, and which of them succeed. */
function oneByOne(writes: MixedWrite[]) {
  const stored = new Map<string, string>();
  const ended = writes.map(({ kind, key, value }) => {
    const fits = kind === "replace" || (kind === "keep" && !stored.has(key));
    if (fits) stored.set(key, value);
    return fits ? value : null;
  });
  return { stored, ended };
}

const BATCHES = "writes that share transactions end as they would one by one, whichever of them fail";

property(BATCHES, onPostgres ? { few: 5, many: 20 } : { few: 25, many: 100 }, async (numRuns) => {
  const { store } = await openTestStore({ now: () => 1_800_000_000_000 });
  const rule = fc.asyncProperty(fc.array(someWrite, { minLength: 1, maxLength: 40 }), async (asked) => {
    await store.write(async (tx: Tx) => void (await tx.db.delete(tx.t.settings).where(ofMix(tx))), null);
    // After one that was made again, so many batches have savepoints.
    if (!onPostgres) for (let batch = 0; batch < 64; batch++) await store.write(async () => undefined, null);
    const writes = asked.map((each, at) => ({ ...each, value: `by ${at}` }));
    const ended = await Promise.allSettled(writes.map((each) => store.write(mixed, each)));
    const rows = await store.read((q: Read) => q.db.select().from(q.t.settings).where(ofMix(q)), null);
    const model = oneByOne(writes);
    expect(ended.map((each) => (each.status === "fulfilled" ? each.value : null))).toEqual(model.ended);
    expect(new Map(rows.map(({ key, value }) => [key, value]))).toEqual(model.stored);
  });
  await fc.assert(rule, { numRuns });
});

/** The rows of those writes. */
function ofMix({ t }: Read) {
  return like(t.settings.key, "mixed %");
}

test.skipIf(onPostgres || process.platform !== "linux")(
  "what can be taken back is kept in no temporary file",
  async () => {
    const { store } = await openTestStore({ now: () => 1_800_000_000_000 });
    const unnamed = () =>
      readdirSync("/proc/self/fd")
        .map(linkOf)
        .filter((path) => path.endsWith("(deleted)"));
    const found: string[] = [];
    // More pages than SQLite would keep in memory by itself, and changed twice.
    const fill = async (tx: Tx, name: string) => {
      for (let at = 0; at < 500; at++)
        await insert(tx, "settings", [{ key: `${name}${at}`, value: "x".repeat(1_000) }]);
    };
    const change = async (tx: Tx) => {
      await tx.db
        .update(tx.t.settings)
        .set({ value: "y".repeat(1_000) })
        .where(like(tx.t.settings.key, "a%"));
      found.push(...unnamed());
    };
    const before = unnamed();
    await Promise.all([store.write(fill, "a"), store.rehearse(change, null), store.write(fill, "b")]);
    expect(found.filter((path) => !before.includes(path))).toEqual([]);
  },
);

/** Where a descriptor leads; "" where it was closed meanwhile. */
function linkOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return "";
  }
}
