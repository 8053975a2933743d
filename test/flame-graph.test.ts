import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { flameGraph } from "./bench/flame/graph.ts";
import { type CpuProfile, framesOf } from "./bench/flame/profile.ts";
import { temporaryDirectory } from "./support/store.ts";

/** Two samples of `outer`, one of `inner` that it called, one before it all, and one of an idle process. */
function profile(): { profile: CpuProfile; folder: string } {
  const folder = temporaryDirectory();
  const chunk = join(folder, "chunk.js");
  writeFileSync(
    chunk,
    "// src/core/outer.ts\nfunction outer() {}\n// node_modules/@a/b/lib/c.js\nfunction inner() {}\n",
  );
  const url = pathToFileURL(chunk).href;
  const frame = (functionName: string, lineNumber: number, at = url) => ({ functionName, url: at, lineNumber });
  const nodes = [
    { id: 1, callFrame: frame("(root)", -1, ""), children: [2, 4, 5] },
    { id: 2, callFrame: frame("outer", 1), children: [3] },
    { id: 3, callFrame: frame("inner", 3) },
    { id: 4, callFrame: frame("(idle)", -1, "") },
    { id: 5, callFrame: frame("<early>", -1, "") },
  ];
  const samples = [5, 2, 2, 3, 4, 4];
  return { folder, profile: { nodes, startTime: 1_000, samples, timeDeltas: [0, 100, 100, 100, 100, 100] } };
}

test("a flame graph shows shares of the time that is not idle, and sources in place of folders", () => {
  const { profile: taken, folder } = profile();
  const frames = framesOf(taken, { from: 1_200, to: 1_500 });
  expect(frames.total).toBe(300);
  expect(framesOf(taken, { from: 1_200, to: 1_300 }).total).toBe(200);
  const svg = flameGraph(frames, "GET <orders>");
  const titles = Array.from(svg.matchAll(/<title>([^<]*)</g), ([, title]) => title);
  expect(titles).toEqual([
    "GET &lt;orders&gt;",
    "all, 100.0 %",
    "outer, src/core/outer.ts, 100.0 %",
    "inner, @a/b, 33.3 %",
  ]);
  expect(svg).not.toContain(folder);
  expect(flameGraph(framesOf(taken, { from: 0, to: 1_500 }), "all of it")).toContain("<title>&lt;early&gt;, 25.0 %");
});
