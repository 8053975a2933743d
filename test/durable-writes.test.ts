import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { insert } from "../src/core/store/rows.ts";
import type { Read, Tx } from "../src/core/store/store.ts";
import { testClock } from "./support/clock.ts";
import { startDaemon } from "./support/daemon.ts";
import { eventually } from "./support/hangs.ts";
import { call } from "./support/platform.ts";
import { openShop, shopToken } from "./support/shop.ts";
import { onPostgres, openTestStore, temporaryDirectory } from "./support/store.ts";

const note = (tx: Tx, key: string) => insert(tx, "settings", [{ key: `note ${key}`, value: "kept" }]);

async function notes(q: Read): Promise<string[]> {
  const rows = await q.db.select().from(q.t.settings);
  return rows.flatMap(({ key }) => (key.startsWith("note ") ? [key.slice(5)] : [])).sort();
}

test("an answered write is visible to each read that begins after it, and snapshots stay whole", async () => {
  const { store } = await openTestStore(testClock());
  const pair = async (tx: Tx, key: string) => {
    await note(tx, `${key} one`);
    await note(tx, `${key} two`);
  };
  const answered = new Set<string>();
  const caller = async (name: number) => {
    for (let at = 0; at < 8; at++) {
      await store.write(pair, `${name}-${at}`);
      answered.add(`${name}-${at}`);
      const before = [...answered];
      const seen = new Set(await store.read(notes, null));
      expect(seen.size % 2).toBe(0);
      expect(before.filter((key) => !seen.has(`${key} two`))).toEqual([]);
    }
  };
  await Promise.all(Array.from({ length: 24 }, (_, name) => caller(name)));
});

const hasCompiler = spawnSync("cc", ["--version"]).status === 0;

/** `serve` on a disk that the test holds and breaks, with a shop. */
async function serveOnHeldDisk() {
  const folder = temporaryDirectory();
  const library = join(folder, "held-disk.so");
  const source = join(import.meta.dirname, "support", "held-disk.c");
  execFileSync("cc", ["-shared", "-fPIC", "-o", library, source, "-ldl"]);
  const shop = await openShop({ folder, stock: { PLAN: 100 }, priceCents: 250, fundsCents: 10_000_00 });
  const held = join(folder, "held");
  const env = { LD_PRELOAD: library, HELD_DISK: held };
  const daemon = await startDaemon({ ...shop.served, env });
  const headers = { authorization: `Bearer ${await shopToken(shop, daemon.url)}`, "content-type": "application/json" };
  const body = JSON.stringify({ line_items: [{ product_id: shop.products.PLAN, quantity: 1 }] });
  const orders = `${daemon.url}/api/v1/orders`;
  return {
    daemon,
    shop,
    order: (key: string) => call(orders, { method: "POST", headers: { ...headers, "idempotency-key": key }, body }),
    listed: async () => (await call(orders, { headers })).body.data.length,
    hold: () => writeFileSync(held, ""),
    free: () => rmSync(held),
    hasBegun: () => existsSync(`${held}.begun`),
    breakDown: () => writeFileSync(`${held}.broken`, ""),
    repair: () => rmSync(`${held}.broken`),
  };
}

describe.runIf(!onPostgres && hasCompiler)("on the disk of a data directory", () => {
  test("an order is answered once it is synced; until then all is read as before, and nothing waits", {
    tags: ["slow"],
  }, async () => {
    const { order, listed, hold, hasBegun, free } = await serveOnHeldDisk();
    expect(await order("first")).toMatchObject({ status: 201 });
    hold();
    let answered = false;
    const ordered = order("second").finally(() => {
      answered = true;
    });
    await eventually(hasBegun, (begun) => begun);
    for (let at = 0; at < 50; at++) expect(await listed()).toBe(1);
    expect(answered).toBe(false);
    free();
    expect(await ordered).toMatchObject({ status: 201 });
    expect(await listed()).toBe(2);
  });

  test("an order whose sync fails is a 503, and the same key later one order, also after a kill", {
    tags: ["slow"],
  }, async () => {
    const { daemon, shop, order, listed, breakDown, repair } = await serveOnHeldDisk();
    breakDown();
    expect(await order("first")).toMatchObject({ status: 503, body: { title: "Service Unavailable" } });
    expect(await listed()).toBe(0);
    repair();
    await eventually(
      () => order("first"),
      ({ status }) => status !== 503,
    );
    const placed = await order("first");
    expect(placed).toMatchObject({ status: 200 });
    await daemon.kill();
    const again = await startDaemon(shop.served);
    const headers = { authorization: `Bearer ${await shopToken(shop, again.url)}` };
    const { body } = await call(`${again.url}/api/v1/orders`, { headers });
    expect(body.data).toMatchObject([{ id: placed.body.id }]);
  });
});
