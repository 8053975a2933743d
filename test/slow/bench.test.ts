/** @module-tag slow */
import { expect, test } from "vitest";
import { benches } from "../bench/all.ts";
import { tinyScale } from "../bench/bench.ts";
import { slowDisk } from "../bench/slow-disk.ts";

// Never a time: only that each still runs to its end. A bench throws when an answer was no 2xx or a write failed.
test.each(benches.map((bench) => [bench.name, bench] as const))("the bench %s still runs", async (_name, bench) => {
  const lines = await bench(tinyScale);
  // Without a C compiler it has no lines.
  if (bench !== slowDisk) expect(lines.length).toBeGreaterThan(0);
  for (const { ours, bare, ratio } of lines)
    for (const figure of [ours, bare, ratio]) expect(figure).toBeGreaterThan(0);
});
