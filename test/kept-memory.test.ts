import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { systemClock } from "../src/core/kernel/clock.ts";
import { ownBytes } from "../src/core/kernel/own-bytes.ts";
import { rasterize } from "../src/daemon/pages/rasterize.ts";
import { type KeptResponse, keptResponse, keptSize } from "../src/daemon/plugins/kept-response.ts";
import { KEPT_CALLERS, memoryCounters } from "../src/daemon/plugins/rate-windows.ts";
import { keptForEpoch } from "../src/daemon/routes/products.ts";
import { addProducts } from "./support/catalog.ts";
import { call, startPlatform } from "./support/platform.ts";
import { openTestStore } from "./support/store.ts";

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");

/** Bytes of this process that are in use: of objects, and of what Buffers keep. */
async function used(): Promise<number> {
  // What the first round gives back is counted as free after a turn of the event loop.
  collect();
  await nextTurn();
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** As requests do between what is kept: they take from the pool of small Buffers and give it back. */
function passingBytes(): number {
  return Buffer.from("x".repeat(3_000)).length;
}

test("small kept responses take the memory that their bound says, not the slabs of Buffers beside them", {
  tags: ["slow"],
}, async () => {
  const { store } = await openTestStore(systemClock);
  const bound = 8_000_000;
  const pages = await keptForEpoch<KeptResponse>(store, { bytes: bound, sizeOf: keptSize })();
  const before = await used();
  for (let at = 0; at < 30_000; at += 1) {
    passingBytes();
    pages.set(`{"region":"${at}"}`, keptResponse(`{"data":[],"page":${at}}`));
  }
  const taken = (await used()) - before;
  expect(pages.get('{"region":"29999"}')?.bytes.toString()).toBe('{"data":[],"page":29999}');
  expect(pages.get('{"region":"0"}')).toBeUndefined();
  expect(taken).toBeLessThan(1.5 * bound);
});

test("pages that are kept compressed take no more than their bytes", { tags: ["slow"] }, async () => {
  const platform = await startPlatform();
  const { token } = await platform.caller();
  await addProducts(
    platform.store,
    Array.from({ length: 5 }, (_, at) => ({ sku: `EU-${at}` })),
  );
  const pages = async (accepted: string) => {
    for (let limit = 1; limit <= 100; limit += 1) {
      for (const sort of ["name", "created_at", "price_cents"]) {
        const headers = { authorization: `Bearer ${token}`, "accept-encoding": accepted };
        const reply = await call(`${platform.url}/api/v1/products?limit=${limit}&sort_by=${sort}`, { headers });
        expect(reply.status).toBe(200);
      }
    }
  };
  await pages("identity");
  const before = await used();
  for (const accepted of ["gzip", "br", "gzip, br", "br, gzip;q=0.5"]) await pages(accepted);
  expect((await used()) - before).toBeLessThan(6_000_000);
});

test("tables of callers are bounded, however many call", { tags: ["slow"] }, async () => {
  const { clients } = memoryCounters(systemClock);
  const before = await used();
  for (let at = 0; at < 4 * KEPT_CALLERS; at += 1) clients.count(`sk_test_${at}`, 60);
  expect((await used()) - before).toBeLessThan(400 * KEPT_CALLERS);
  expect(clients.count("sk_test_0", 60).remaining).toBe(59);
});

test("kept bytes of texts and pictures have their memory to themselves", async () => {
  const bytes = ownBytes("naïve 漢字");
  expect(bytes.toString()).toBe("naïve 漢字");
  expect(bytes.buffer.byteLength).toBe(bytes.length);
  const png = await rasterize('<svg xmlns="http://www.w3.org/2000/svg" width="2" height="2"/>');
  expect(png.subarray(1, 4).toString()).toBe("PNG");
  expect(png.buffer.byteLength).toBe(png.length);
});
