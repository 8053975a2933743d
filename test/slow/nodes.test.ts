/** @module-tag slow */
import { expect, onTestFinished, test, vi } from "vitest";
import { type Daemon, startDaemon } from "../support/daemon.ts";
import { HANG_MS } from "../support/hangs.ts";
import { startPostgres } from "../support/postgres-server.ts";
import { openShop, requestToken } from "../support/shop.ts";
import { temporaryDirectory } from "../support/store.ts";

/** The calendar is taken over in less than this (ms); a machine that is busy gets some more. */
const TAKEN_OVER_MS = 30_000 + 5_000;

async function nodes(count: number) {
  const postgres = await startPostgres();
  onTestFinished(() => postgres.remove());
  const folder = temporaryDirectory();
  const shop = await openShop({ folder, url: postgres.url, stock: { EU5: 5 }, priceCents: 5, fundsCents: 1_000 });
  const flags = ["--public-url", "http://esim.test"];
  const all: Daemon[] = [];
  for (let at = 0; at < count; at++) all.push(await startDaemon({ ...shop.served, flags }));
  return { shop, all };
}

const TAKEN = '"event":"cron_taken"';
const timesTaken = (daemon: Daemon) => daemon.text().split(TAKEN).length - 1;

test("jobs of the calendar go on within 30 seconds when the node that runs them is killed or suspended", async () => {
  const { all } = await nodes(3);
  const [one, two, three] = all as [Daemon, Daemon, Daemon];
  await one.printed(TAKEN);
  expect([two, three].map(timesTaken)).toEqual([0, 0]);
  await one.kill();
  const taker = async (among: Daemon[]) => {
    const began = performance.now();
    await vi.waitFor(() => expect(among.map(timesTaken)).toContain(1), HANG_MS);
    expect(performance.now() - began).toBeLessThan(TAKEN_OVER_MS);
    return among.find((daemon) => timesTaken(daemon) === 1) as Daemon;
  };
  const next = await taker([two, three]);
  const last = next === two ? three : two;
  expect(timesTaken(last)).toBe(0);
  next.child.kill("SIGSTOP");
  expect(await taker([last])).toBe(last);
  next.child.kill("SIGCONT");
  await next.printed('"event":"cron_lost"');
  expect([next, last].map(timesTaken)).toEqual([1, 1]);
  await last.stop();
  // It was stopped, and left the jobs at once.
  await vi.waitFor(() => expect(timesTaken(next)).toBe(2), HANG_MS);
});

test("requests of a client are counted over all nodes", async () => {
  const { shop, all } = await nodes(2);
  const accepted = new Map<string | null, number>();
  for (let sent = 0; sent < 80; sent++) {
    const wrong = { ...shop, clientSecret: "x".repeat(20) };
    const { status, headers } = await requestToken(wrong, all[sent % 2]?.url ?? "");
    const minute = headers.get("x-ratelimit-reset");
    accepted.set(minute, (accepted.get(minute) ?? 0) + (status === 429 ? 0 : 1));
  }
  // The minute of the clock may have turned meanwhile: of 80 requests one of the two had 40 at least.
  expect([30, 31]).toContain(Math.max(...accepted.values()));
});
