/** @module-tag slow */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { startDaemon } from "../support/daemon.ts";
import { expectEndedPolls, waitingPolls } from "../support/feed.ts";
import { eventually } from "../support/hangs.ts";
import { call } from "../support/platform.ts";
import startPostgres from "../support/postgres-setup.ts";
import { type Launched, launchCommand } from "../support/process.ts";
import { seeded } from "../support/random.ts";
import { openShop, type Shop, shopToken } from "../support/shop.ts";
import { freshPostgres, temporaryDirectory } from "../support/store.ts";

const WRITERS = 64;
const LATEST_KILL_MS = 120;
const reader = join(import.meta.dirname, "..", "support", "feed-reader.mjs");

interface Rounds {
  ordersEach: number;
  /** The writers go on until the reader was killed this often. */
  kills: number;
}

interface Kept {
  event: string;
  event_id: string;
  data: { id?: string; order_id?: string };
}

/** All that the readers kept, in the order of their pages. */
function keptIn(folder: string): Kept[] {
  const pages = readdirSync(folder).filter((name) => name.endsWith(".json"));
  return pages.sort().flatMap((name) => JSON.parse(readFileSync(join(folder, name), "utf8")).events);
}

/** The kinds of each order's events, in the order in which they were read. */
function bySubject(events: readonly Kept[]): Map<string | undefined, string[]> {
  const groups = Map.groupBy(events, ({ data }) => data.id ?? data.order_id);
  return new Map([...groups].map(([id, own]) => [id, own.map(({ event }) => event)]));
}

/** 64 writers place sandbox orders at all nodes; a reader of any node is killed at random and started again. */
async function followWhileOrdering(shop: Shop, urls: string[], { ordersEach, kills }: Rounds) {
  const folder = temporaryDirectory();
  const token = await shopToken(shop, urls[0] ?? "");
  const random = seeded(16);
  const product_id = shop.products.EU5;
  const body = JSON.stringify({ line_items: [{ product_id, quantity: 1 }] });
  const placed: string[] = [];
  let killed = 0;
  const writers = Array.from({ length: WRITERS }, async (_, writer) => {
    for (let count = 0; count < ordersEach || killed < kills; count++) {
      const headers = {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        "idempotency-key": `${writer}-${count}`,
      };
      const reply = await call(`${urls[writer % urls.length]}/api/v1/orders`, { method: "POST", headers, body });
      expect(reply.status, JSON.stringify(reply.body)).toBe(201);
      placed.push(reply.body.id);
      // Not faster than the platform fulfills them, or the end is waited for.
      await pause(500 * random());
    }
  });
  const start = (): Launched => {
    const url = urls[Math.floor(random() * urls.length)] ?? "";
    return launchCommand(process.execPath, [reader, folder, url], { env: { TOKEN: token } });
  };
  while (killed < kills) {
    const running = start();
    // Each run reads something, so that the kills meet reading and keeping too, and not only the start.
    await running.line(0);
    await pause(random() * LATEST_KILL_MS);
    expect(await running.end("SIGKILL")).toMatchObject({ signal: "SIGKILL", stderr: "" });
    killed += 1;
  }
  await Promise.all(writers);
  const last = start();
  await eventually(
    () => keptIn(folder).length,
    (length) => length >= 3 * placed.length,
  );
  await last.end("SIGKILL");
  return { placed, events: keptIn(folder) };
}

function expectEachOnce({ placed, events }: Awaited<ReturnType<typeof followWhileOrdering>>): void {
  expect(new Set(events.map(({ event_id }) => event_id)).size).toBe(events.length);
  const life = ["order.created", "order.fulfilled", "esims.ready"];
  expect(bySubject(events)).toEqual(new Map([...bySubject(events).keys()].map((id) => [id, life])));
  expect([...bySubject(events).keys()].sort()).toEqual([...placed].sort());
}

const stock = { EU5: 0 };

test("a reader that is killed -9 at random while 64 writers commit keeps every event once, in order", async () => {
  const shop = await openShop({ folder: temporaryDirectory(), stock, priceCents: 100, fundsCents: 100, sandbox: true });
  const daemon = await startDaemon({ data: shop.data });
  expectEachOnce(await followWhileOrdering(shop, [daemon.url], { ordersEach: 6, kills: 12 }));
});

test("the same with two nodes on one PostgreSQL, the reader at either", async () => {
  onTestFinished(await startPostgres());
  const { url } = await freshPostgres();
  const shop = await openShop({
    folder: temporaryDirectory(),
    url,
    stock,
    priceCents: 100,
    fundsCents: 100,
    sandbox: true,
  });
  const flags = ["--public-url", "http://esim.test"];
  const [one, other] = [await startDaemon({ ...shop.served, flags }), await startDaemon({ ...shop.served, flags })];
  expectEachOnce(await followWhileOrdering(shop, [one.url, other.url], { ordersEach: 3, kills: 5 }));
  const { answers } = await waitingPolls(other.url, await shopToken(shop, one.url));
  const began = performance.now();
  const stopped = other.stop();
  expectEndedPolls(await answers);
  expect(await stopped).toMatchObject({ exitCode: 0, signal: null });
  // Half of the wait, and of what requests in flight have: neither ended it.
  expect(performance.now() - began).toBeLessThan(12_500);
});
