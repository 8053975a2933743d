import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import type { InlineConfig } from "vitest/node";
import { HANG_MS } from "./test/support/hangs.ts";
import { filesWithSlowTests, slow } from "./test/support/tags.ts";
import suite from "./vitest.config.ts";
import postgres from "./vitest.postgres.config.ts";

/** They look at time or memory, at a terminal, or build the program anew: nothing else runs beside them. */
const undisturbed = [
  "bench",
  "cli-dialogues",
  "fairness",
  "large-orders",
  "machine-faults",
  "package",
  "webhook-fairness",
].map((name) => `test/slow/${name}.test.ts`);

/** Files of test/slow. */
function slowFiles(name: string, files: Pick<InlineConfig, "include" | "exclude" | "maxWorkers" | "sequence">) {
  return { extends: true as const, test: { name, globalSetup: ["test/support/global-setup.ts"], ...files } };
}

/** The tests of another suite that are tagged slow, once the groups before are through. */
function tagged(name: string, groupOrder: number, { test = {} }: typeof suite): TestProjectInlineConfiguration {
  const { exclude = [], env = {} } = test;
  // All projects share their environment, and faults of a disk need one: no files in memory.
  const globalSetup = [test.globalSetup ?? []].flat().filter((path) => !path.endsWith("/temporary-setup.ts"));
  const include = filesWithSlowTests();
  const shared = { isolate: false, maxWorkers: 2, sequence: { groupOrder } };
  return { extends: true, test: { name, include, exclude, globalSetup, env, ...shared } };
}

/**
 * The slow ones: crashes on the real process, terminals, browsers, fuzzing. Most of them wait for processes, so two
 * files run at a time. After them the tests of the other suites that are tagged slow, on both engines.
 */
export default defineConfig({
  test: {
    tags: [slow],
    testTimeout: 600_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: HANG_MS, interval: 20 } },
    projects: [
      slowFiles("undisturbed", { include: undisturbed, maxWorkers: 1, sequence: { groupOrder: 0 } }),
      slowFiles("slow", {
        include: ["test/slow/*.test.ts"],
        exclude: undisturbed,
        maxWorkers: 2,
        sequence: { groupOrder: 1 },
      }),
      tagged("sqlite", 2, suite),
      tagged("postgres", 3, postgres),
    ],
  },
});
