/** @module-tag slow */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { sealCodes } from "../../src/core/esims/sealed-codes.ts";
import type { EsimId } from "../../src/core/kernel/brand.ts";
import { systemClock } from "../../src/core/kernel/clock.ts";
import { randomIds } from "../../src/core/kernel/ids.ts";
import { openStore } from "../../src/core/store/open/open.ts";
import { readMasterKey } from "../../src/core/store/sealing/key-files.ts";
import { type Daemon, startDaemon } from "../support/daemon.ts";
import { eventually } from "../support/hangs.ts";
import { call } from "../support/platform.ts";
import { openShop, type Shop, shopToken } from "../support/shop.ts";
import { freshUrl, onPostgres, runStatements, temporaryDirectory } from "../support/store.ts";

/** The most that an order may have, where they are computed; of stock fewer. Held in memory both are more than FLAT. */
const unitsOf = (sandbox: boolean) => (sandbox ? 500_000 : 100_000);
const MEGABYTE = 1024 * 1024;
const FLAT = 64 * MEGABYTE;
/** Under any traffic V8 lets the heap of a fresh process grow by so much before it collects. */
const WARMING_UP = 192 * MEGABYTE;

/** The memory that the process holds (bytes). */
function memoryOf(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) * 1024;
}

interface Read {
  bytes: number;
  iccids: number;
  distinct: number;
  tail: string;
  ms: number;
}

/** Reads a body to its end without holding it. */
async function readThrough(url: string, token: string): Promise<Read> {
  const began = performance.now();
  const sent = request(url, { headers: { authorization: `Bearer ${token}` }, agent: false }).end();
  const [message] = await once(sent, "response");
  expect(message.statusCode).toBe(200);
  const seen = new Set<string>();
  let [bytes, iccids, rest] = [0, 0, ""];
  for await (const chunk of message.setEncoding("latin1")) {
    bytes += chunk.length;
    const text: string = rest + chunk;
    let counted = 0;
    for (const { 0: match, 1: iccid = "", index } of text.matchAll(/"iccid":"(\d+)"/g)) {
      iccids += 1;
      seen.add(createHash("md5").update(iccid).digest("base64url").slice(0, 12));
      counted = index + match.length;
    }
    // An ICCID that the chunk cuts begins behind the last comma; one that it ends with is counted.
    rest = text.slice(Math.max(counted, text.lastIndexOf(",") + 1));
  }
  return { bytes, iccids, distinct: seen.size, tail: rest, ms: performance.now() - began };
}

/** The large order of a partner, served by a daemon of its own. */
async function served({ sandbox }: { sandbox: boolean }) {
  const units = unitsOf(sandbox);
  const url = await freshUrl();
  const folder = temporaryDirectory();
  const shop = await openShop({ folder, url, stock: { EU5: 1 }, priceCents: 1, fundsCents: units * 2, sandbox });
  if (!sandbox) await fillStock(shop, url, units);
  const daemon = await startDaemon(shop.served);
  const token = await shopToken(shop, daemon.url);
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json", "idempotency-key": "large" };
  const line_items = Array.from({ length: 50 }, () => ({ product_id: shop.products.EU5, quantity: units / 50 }));
  const began = performance.now();
  const body = JSON.stringify({ line_items });
  const placed = await call(`${daemon.url}/api/v1/orders`, { method: "POST", headers, body });
  expect(placed.status).toBe(201);
  const path = `${daemon.url}/api/v1/orders/${placed.body.id}`;
  await eventually(
    () => call(`${path}/esims?limit=1`, { headers }),
    ({ status }) => status === 200,
  );
  console.log(`fulfilled after ${Math.round(performance.now() - began)} ms`);
  return { daemon, token, path };
}

/** Stock by a thousand rows a statement: importing them is not what is tested here. */
async function fillStock({ data, products }: Shop, url: string | undefined, units: number): Promise<void> {
  const location = url === undefined ? { file: `${data}/esimctl.db`, create: false } : { url };
  const masterKey = readMasterKey(`${data}/esimctl.key`);
  const store = await openStore(location, { clock: systemClock, ids: randomIds(), masterKey });
  const row = (at: number) => {
    const id = `01990000-0000-7000-8000-00000${1_000_000 + at}` as EsimId;
    const codes = { smdp_address: "smdp.example.net", matching_id: `MATCH-${at}`, confirmation_code: null };
    const { sealed } = sealCodes(store, id, codes);
    return `('${id}', '894410000000${1_000_000 + at}', '${products.EU5}', '${sealed}', 'inactive', 1)`;
  };
  const statements = Array.from({ length: units / 1_000 }, (_, chunk) => {
    const rows = Array.from({ length: 1_000 }, (_, at) => row(chunk * 1_000 + at));
    return `INSERT INTO esims (id, iccid, product_id, sealed, status, created_at) VALUES ${rows.join(", ")}`;
  });
  await store.close();
  await runStatements(location, [...statements, `UPDATE stock_pools SET available = available + ${units}`]);
}

/** Reads a body while others ask for /healthz; `most` is the most memory that the daemon held (bytes). */
async function observed(daemon: Daemon, url: string, token: string) {
  let [most, slowest, asked, reading] = [0, 0, 0, true];
  const read = readThrough(url, token).finally(() => {
    reading = false;
  });
  while (reading) {
    const began = performance.now();
    expect((await call(`${daemon.url}/healthz`)).status).toBe(200);
    slowest = Math.max(slowest, performance.now() - began);
    asked += 1;
    most = Math.max(most, memoryOf(daemon.pid));
    await pause(100);
  }
  return { most, slowest, asked, read: await read };
}

// eSIMs of the sandbox are computed, whatever the engine.
test.for([...(onPostgres ? [] : [{ sandbox: true }]), { sandbox: false }])(
  "the eSIMs of a large order are read with flat memory, while others get responses: %o",
  async (kind) => {
    const units = unitsOf(kind.sandbox);
    const { daemon, token, path } = await served(kind);
    const fresh = memoryOf(daemon.pid);
    const cold = await observed(daemon, `${path}/esims`, token);
    const idle = memoryOf(daemon.pid);
    const warm = await observed(daemon, kind.sandbox ? `${path}/esims` : path, token);
    console.log({ ...kind, fresh, cold, idle, warm });
    for (const { read, asked } of [cold, warm]) {
      expect([read.iccids, read.distinct]).toEqual([units, units]);
      expect(read.tail).toMatch(new RegExp(`\\}\\]\\}\\}\\]\\}$|"count":${units}\\}$`));
      expect(asked).toBeGreaterThan(10);
    }
    expect(cold.most - fresh).toBeLessThan(WARMING_UP);
    expect(warm.most - idle).toBeLessThan(FLAT);
    expect((await daemon.stop()).exitCode).toBe(0);
  },
);
