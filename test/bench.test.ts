import { expect, test } from "vitest";
import { benches } from "./bench/all.ts";
import { tinyScale } from "./bench/bench.ts";

// Never a time: only that each still runs to its end. A bench throws when an answer was no 2xx or a write failed.
test.each(benches.map((bench) => [bench.name, bench] as const))("the bench %s still runs", async (_name, bench) => {
  const lines = await bench(tinyScale);
  expect(lines.length).toBeGreaterThan(0);
  for (const { ours, bare, ratio } of lines)
    for (const figure of [ours, bare, ratio]) expect(figure).toBeGreaterThan(0);
});
