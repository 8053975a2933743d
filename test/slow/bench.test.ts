/** @module-tag slow */
import { expect, test } from "vitest";
import { benches } from "../bench/all.ts";
import { tinyScale } from "../bench/bench.ts";
import { orderCreation } from "../bench/order-creation.ts";
import { slowDisk } from "../bench/slow-disk.ts";
import { webhooks } from "../bench/webhooks.ts";

const inTheSuite = [orderCreation, webhooks];
const others = benches.filter((bench) => !inTheSuite.includes(bench));

// As test/bench.test.ts does.
test.each(others.map((bench) => [bench.name, bench] as const))("the bench %s still runs", async (_name, bench) => {
  const lines = await bench(tinyScale);
  // Without a C compiler it has no lines.
  if (bench !== slowDisk) expect(lines.length).toBeGreaterThan(0);
  for (const { ours, bare, ratio } of lines)
    for (const figure of [ours, bare, ratio]) expect(figure).toBeGreaterThan(0);
});
