/** @module-tag slow */
import { closeSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";
import { esimctl, esimctlJson } from "../support/cli.ts";
import { type Daemon, refusedDaemon, startDaemon } from "../support/daemon.ts";
import { HANG_MS } from "../support/hangs.ts";
import { call, type Reply } from "../support/platform.ts";
import { openShop, type Shop, shopToken } from "../support/shop.ts";
import { temporaryDirectory } from "../support/store.ts";

const FUNDS = 1_000_000;

function shopIn(folder: string): Promise<Shop> {
  return openShop({ folder, stock: { EU5: 2_000 }, priceCents: 5, fundsCents: FUNDS });
}

async function orderer(shop: Shop, url: string): Promise<(key: string) => Promise<Reply>> {
  const authorization = `Bearer ${await shopToken(shop, url)}`;
  const body = JSON.stringify({ line_items: [{ product_id: shop.products.EU5, quantity: 1 }] });
  return (key) =>
    call(`${url}/api/v1/orders`, {
      method: "POST",
      headers: { authorization, "content-type": "application/json", "idempotency-key": key },
      body,
    });
}

/** Each answered key is one order still, and the money of all of them is accounted for. */
async function expectKept(order: (key: string) => Promise<Reply>, answered: Map<string, string>): Promise<void> {
  for (const [key, id] of answered) expect(await order(key)).toMatchObject({ status: 200, body: { id } });
}

async function expectBalanced(target: string[], orders: number): Promise<void> {
  expect(await esimctlJson(["wallet", "check", ...target])).toMatchObject({
    ok: true,
    wallets: [{ balance_cents: FUNDS - 5 * orders }],
  });
}

const status = async ({ url }: Daemon, path: string) => (await fetch(url + path)).status;

/** A small file system of its own at `folder`, seen by this command and what it starts. */
function onSmallDisk(folder: string, seed: string, more = ""): [string, ...string[]] {
  const mount = `mount -t tmpfs -o size=24m tmpfs ${folder} && cp -a ${seed}/. ${folder} ${more} && exec "$@"`;
  return ["unshare", "--map-root-user", "--mount", "sh", "-c", mount, "sh"];
}

function fill(file: string): void {
  const disk = openSync(file, "w");
  const block = Buffer.alloc(64 * 1024);
  try {
    for (let size = block.length; size >= 1; ) {
      try {
        writeSync(disk, block, 0, size);
      } catch {
        size = Math.floor(size / 2);
      }
    }
  } finally {
    closeSync(disk);
  }
}

test("a full disk refuses writes with a 503, keeps reads, and loses nothing", async () => {
  const seed = temporaryDirectory();
  const folder = temporaryDirectory();
  const shop = await shopIn(seed);
  const daemon = await startDaemon({ data: join(folder, "data"), through: onSmallDisk(folder, seed) });
  const order = await orderer(shop, daemon.url);
  const answered = new Map<string, string>();
  const place = async (key: string) => {
    const reply = await order(key);
    if (reply.status === 201) answered.set(key, reply.body.id);
    return reply.status;
  };
  for (let at = 0; at < 20; at++) expect(await place(`before-${at}`)).toBe(201);

  // The test reads the daemon's file system through its process.
  const filler = join(`/proc/${daemon.pid}/root`, folder, "filler");
  fill(filler);
  const statuses = new Set<number>();
  for (let at = 0; !statuses.has(503); at++) statuses.add(await place(`during-${at}`));
  expect([...statuses].filter((each) => each !== 201 && each !== 503)).toEqual([]);
  expect(await order("refused")).toMatchObject({
    status: 503,
    body: { type: expect.stringMatching(/unavailable$/), detail: expect.any(String) },
  });
  expect(await status(daemon, "/healthz")).toBe(200);
  await vi.waitFor(async () => expect(await status(daemon, "/readyz")).toBe(503), HANG_MS);
  expect(await daemon.printed("store_unavailable")).toMatch(/full/);

  rmSync(filler);
  await vi.waitFor(async () => expect(await place("after")).toBe(201), HANG_MS);
  await vi.waitFor(async () => expect(await status(daemon, "/readyz")).toBe(200), HANG_MS);
  await expectKept(order, answered);
  const { exitCode, stdout } = await daemon.stop();
  expect(exitCode).toBe(0);
  expect(stdout).not.toMatch(/"level":"(error|fatal)".*request failed/);
});

test("a read-only data directory is refused with a message, by serve and by the terminal", async () => {
  const seed = temporaryDirectory();
  const folder = temporaryDirectory();
  await shopIn(seed);
  const through = onSmallDisk(folder, seed, `&& mount -o remount,ro ${folder}`);
  const data = join(folder, "data");
  const refused = await refusedDaemon({ data, through });
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toMatch(/Cannot write to .*serve\.lock[\s\S]*read-only/);
  const credit = ["wallet", "credit", "--partner", "acme", "--amount", "1.00", "--currency", "AUD", "--data", data];
  const written = await esimctl(credit, { through });
  expect(written.exitCode).toBe(1);
  expect(written.stderr).toMatch(/Cannot open the database .*esimctl\.db[\s\S]*read-only/);
});

test("a daemon with 64 file descriptors survives more connections than it can hold", async () => {
  const shop = await shopIn(temporaryDirectory());
  const daemon = await startDaemon({ data: shop.data, through: ["prlimit", "--nofile=64:64"] });
  const order = await orderer(shop, daemon.url);
  const answered = new Map<string, string>();
  const place = async (key: string) => {
    const reply = await order(key);
    if (reply.status === 201) answered.set(key, reply.body.id);
    return reply.status;
  };
  expect(await place("before")).toBe(201);
  const held = await Promise.all(Array.from({ length: 200 }, () => hold(daemon.port)));
  onTestFinished(() => {
    for (const socket of held) socket.destroy();
  });
  await Promise.allSettled(Array.from({ length: 20 }, (_, at) => place(`amid-${at}`)));
  for (const socket of held) socket.destroy();
  await vi.waitFor(async () => expect(await place("after")).toBe(201), HANG_MS);
  await expectKept(order, answered);
  expect(await status(daemon, "/readyz")).toBe(200);
  expect(await daemon.stop()).toMatchObject({ exitCode: 0 });
  expect(await esimctlJson(["doctor", "--data", shop.data])).toMatchObject({ ok: true });
});

/** A connection that sends nothing; refused ones count too. */
function hold(port: number): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port });
    socket.on("error", () => resolve(socket));
    socket.on("connect", () => resolve(socket));
  });
}

test("a clock that jumps an hour ahead and back loses no order, and work continues", async () => {
  const folder = temporaryDirectory();
  const shop = await shopIn(folder);
  const clock = join(folder, "clock");
  const move = (minutes: number) => writeFileSync(clock, String(minutes * 60_000));
  move(0);
  const preload = pathToFileURL(join(import.meta.dirname, "..", "support", "moved-clock.mjs")).href;
  const env = { NODE_OPTIONS: `--import=${preload}`, MOVED_CLOCK: clock };
  const daemon = await startDaemon({ data: shop.data, env });
  const answered = new Map<string, string>();
  let orders = 0;
  const early = await orderer(shop, daemon.url);
  for (const minutes of [0, 61, 0, -60, 0]) {
    move(minutes);
    // What was issued at another time may have expired or not begun: a client asks for a new token.
    const order = await vi.waitFor(async () => {
      const caller = await orderer(shop, daemon.url);
      const reply = await caller(`at-${orders}`);
      expect(reply.status, JSON.stringify(reply.body)).toBe(201);
      answered.set(`at-${orders}`, reply.body.id);
      return caller;
    }, HANG_MS);
    orders += 1;
    await expectKept(order, answered);
    await vi.waitFor(async () => expect(await unfulfilled(shop)).toBe(0), HANG_MS);
  }
  expect(await early("at-0")).toMatchObject({ status: 200 });
  await expectBalanced(["--data", shop.data], orders);
  expect(await status(daemon, "/readyz")).toBe(200);
  expect(await daemon.stop()).toMatchObject({ exitCode: 0 });
});

test("a writing thread that ends by itself ends the daemon, and the next one has what was answered", async () => {
  const folder = temporaryDirectory();
  const shop = await shopIn(folder);
  const now = join(folder, "now");
  const preload = pathToFileURL(join(import.meta.dirname, "..", "support", "ending-thread.mjs")).href;
  const env = { NODE_OPTIONS: `--import=${preload}`, ENDED_THREAD: "writer", ENDED_WHEN: now };
  const daemon = await startDaemon({ data: shop.data, env });
  const order = await orderer(shop, daemon.url);
  const answered = new Map<string, string>();
  const ordering = Array.from({ length: 200 }, async (_, at) => {
    const reply = await order(`at-${at}`).catch(() => null);
    if (reply?.status === 201) answered.set(`at-${at}`, reply.body.id);
    if (answered.size === 20) writeFileSync(now, "");
  });
  const { exitCode, stderr } = await daemon.ended;
  await Promise.all(ordering);
  expect([exitCode, stderr]).toEqual([expect.any(Number), expect.stringContaining("thread that writes has ended")]);
  expect(exitCode).not.toBe(0);
  expect(answered.size).toBeGreaterThan(0);

  const next = await startDaemon({ data: shop.data });
  const again = await orderer(shop, next.url);
  await expectKept(again, answered);
  for (let at = 0; at < 200; at++) expect((await again(`at-${at}`)).status).toBeOneOf([200, 201]);
  await vi.waitFor(async () => expect(await unfulfilled(shop)).toBe(0), HANG_MS);
  await expectBalanced(["--data", shop.data], 200);
});

async function unfulfilled(shop: Shop): Promise<number> {
  const args = ["orders", "list", "--partner", "acme", "--all", "--data", shop.data];
  const { data } = Object(await esimctlJson(args));
  return data.filter((order: { status: string }) => order.status !== "fulfilled").length;
}
