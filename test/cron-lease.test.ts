import { expect, onTestFinished, test } from "vitest";
import { lastCronRuns, recordCronRun } from "../src/core/insight/cron-runs.ts";
import { CRON_LEASE_MS, holdsCron, mayTakeCron, releaseCron, takeCron } from "../src/core/platform/cron-lease.ts";
import { cronRun } from "../src/daemon/workers/cron.ts";
import { type Cron, sharedCron } from "../src/daemon/workers/cron-lease.ts";
import { type TestClock, testClock } from "./support/clock.ts";
import { openTestStore, type TestStore } from "./support/store.ts";

/** Nodes look often, so that the test need not wait. */
const LOOK_MS = 5;

async function nodeOn(opened: TestStore, clock: TestClock, node: string, isClockOff = () => false): Promise<Cron> {
  const log = { error: (...words: unknown[]) => console.error(...words), info: () => undefined };
  const cron = sharedCron({ store: await opened.again(), clock, log, node, isClockOff }, LOOK_MS);
  onTestFinished(() => cron.stop());
  return cron;
}

const running = new AbortController().signal;

test("one of two nodes runs the jobs of the calendar; one that stops leaves them to the other at once", async () => {
  const clock = testClock();
  const opened = await openTestStore(clock);
  const one = await nodeOn(opened, clock, "one");
  await expect.poll(one.holds).toBe(true);
  const two = await nodeOn(opened, clock, "two");
  let taken = 0;
  two.onTaken(() => void taken++);
  const both = async (done: number) => {
    await one.run("esim_expiry", running, async () => done);
    await two.run("esim_expiry", running, async () => done + 1);
    return (await opened.store.read(lastCronRuns, null)).map((run) => run.done);
  };
  expect(await both(10)).toEqual([10]);
  expect([two.holds(), taken]).toEqual([false, 0]);
  await one.stop();
  await expect.poll(two.holds).toBe(true);
  expect(taken).toBe(1);
  expect(await both(20)).toEqual([21]);
});

test("a node without a sign of life loses the jobs after 20 seconds, and records none that it was at", async () => {
  const clock = testClock();
  const { store } = await openTestStore(clock);
  expect(await store.write(takeCron, "one")).toBe(clock.now() + CRON_LEASE_MS);
  clock.advance(15_000);
  expect(await store.write(takeCron, "one")).toBe(clock.now() + CRON_LEASE_MS);
  clock.advance(CRON_LEASE_MS - 1);
  expect([await store.read(mayTakeCron, "two"), await store.write(takeCron, "two")]).toEqual([false, null]);
  const late = cronRun(
    store,
    "esim_expiry",
    async () => {
      clock.advance(1);
      await store.write(takeCron, "two");
      return 3;
    },
    "one",
  );
  await late;
  expect([await store.read(holdsCron, "one"), await store.read(holdsCron, "two")]).toEqual([false, true]);
  expect(await store.read(lastCronRuns, null)).toEqual([]);
  const outcome = { job: "esim_expiry", took_ms: 1, done: 4, error: null } as const;
  await store.write(recordCronRun, { ...outcome, node: "two" });
  expect(await store.read(lastCronRuns, null)).toMatchObject([{ done: 4 }]);
  await store.write(releaseCron, "one");
  expect(await store.read(holdsCron, "two")).toBe(true);
});

test("a node whose clock is off ends the job it is at, and does not take the jobs", async () => {
  const clock = testClock();
  const opened = await openTestStore(clock);
  let off = false;
  const one = await nodeOn(opened, clock, "one", () => off);
  await expect.poll(one.holds).toBe(true);
  const begun = Promise.withResolvers<AbortSignal>();
  const ended = one.run("esim_expiry", running, async (signal) => {
    begun.resolve(signal);
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    return 1;
  });
  await begun.promise;
  off = true;
  await ended;
  expect(one.holds()).toBe(false);
  const two = await nodeOn(opened, clock, "two");
  clock.advance(CRON_LEASE_MS);
  await expect.poll(two.holds).toBe(true);
  off = false;
  await one.run("esim_expiry", running, () => Promise.reject(new Error("the other node runs it")));
  expect(one.holds()).toBe(false);
});
