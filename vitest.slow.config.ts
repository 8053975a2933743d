import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import type { InlineConfig } from "vitest/node";
import { HANG_MS } from "./test/support/hangs.ts";
import { filesWithSlowTests, slow } from "./test/support/tags.ts";
import suite, { longFirst } from "./vitest.config.ts";
import postgres from "./vitest.postgres.config.ts";

/** They look at time or memory, or build the program anew: they run alone. */
const undisturbed = ["fairness", "large-orders", "machine-faults", "package", "webhook-fairness"].map(
  (name) => `test/slow/${name}.test.ts`,
);

/** They take one to five minutes each, of which they wait for most, and begin first: others end meanwhile. */
const long = [
  ...["pages-axe", "supply-crash", "topup-crash", "supply-nodes", "console-browser", "proxies", "node-faults"],
  ...["portal-browser", "postgres-faults", "two-builds", "cli-dialogues", "bench", "cli-remote", "nodes"],
];

/** They run on PostgreSQL too, in smaller numbers: what they promise depends on the engine. */
const onBothEngines = [
  "activation-crash",
  "crash-model",
  "fairness",
  "large-orders",
  "order-crash",
  "supplier-mail-crash",
  "supply-crash",
  "supply-nodes",
  "topup-crash",
  "webhook-crash",
  "webhook-fairness",
].map((name) => `test/slow/${name}.test.ts`);

const isUndisturbed = (path: string) => undisturbed.includes(path);

type Files = Required<Pick<InlineConfig, "include" | "exclude" | "maxWorkers" | "sequence">>;

/** Files of test/slow, on the engine of another suite. */
function slowFiles(name: string, { test = {} }: typeof suite, files: Files): TestProjectInlineConfiguration {
  return { extends: true, test: { name, globalSetup: setupOf(test), env: test.env ?? {}, ...files } };
}

/** What a suite starts. All projects share their environment, and faults of a disk need one: no files in memory. */
function setupOf({ globalSetup = [] }: Pick<InlineConfig, "globalSetup">): string[] {
  return [globalSetup].flat().filter((path) => !path.endsWith("/temporary-setup.ts"));
}

/** The tests of another suite that are tagged slow. */
function tagged(name: string, { test = {} }: typeof suite): TestProjectInlineConfiguration {
  const { exclude = [], env = {} } = test;
  const files = { include: filesWithSlowTests(), exclude };
  return { extends: true, test: { name, globalSetup: setupOf(test), env, isolate: false, ...files, ...beside } };
}

/** Nothing runs beside them. */
const alone = { exclude: [], maxWorkers: 1 };
/** Most of them wait for processes, so four files run at a time, of either engine. */
const beside = { maxWorkers: 4, sequence: { groupOrder: 2 } };

/**
 * The slow ones: crashes on the real process, terminals, browsers, fuzzing; those of `onBothEngines` on each engine.
 * With them the tests of the other suites that are tagged slow, on both engines.
 */
export default defineConfig({
  test: {
    tags: [slow],
    // Waits that hang fail within minutes; what works on takes long beside a load of ten.
    testTimeout: 1_800_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: HANG_MS, interval: 20 } },
    sequence: { sequencer: longFirst(long) },
    projects: [
      slowFiles("undisturbed", suite, { ...alone, include: undisturbed, sequence: { groupOrder: 0 } }),
      slowFiles("undisturbed-postgres", postgres, {
        ...alone,
        include: onBothEngines.filter(isUndisturbed),
        sequence: { groupOrder: 1 },
      }),
      slowFiles("slow", suite, { ...beside, include: ["test/slow/*.test.ts"], exclude: undisturbed }),
      slowFiles("slow-postgres", postgres, { ...beside, include: onBothEngines, exclude: undisturbed }),
      tagged("sqlite", suite),
      tagged("postgres", postgres),
    ],
  },
});
