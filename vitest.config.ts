import { statSync } from "node:fs";
import { defineConfig } from "vitest/config";
import { HANG_MS } from "./test/support/hangs.ts";
import { slow } from "./test/support/tags.ts";

/** Modules are loaded anew for this one: it looks at what each does while it is loaded. */
const isolated = ["test/query-plans.test.ts"];

/** They wait for locks or for processes and begin first, in this order: others work meanwhile. */
const long = ["database-faults", "pool", "cli-remote", "cli-serve", "large-orders", "serve", "serve-workers"];

/** The order of a suite's files: those of `long` first, then by size. */
export function longFirst(long: readonly string[]) {
  return class {
    async sort<File extends { moduleId: string }>(files: File[]): Promise<File[]> {
      const rank = ({ moduleId }: File) =>
        long.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`)) + 1 || long.length + 1;
      const size = ({ moduleId }: File) => statSync(moduleId).size;
      return files.sort((one, other) => rank(one) - rank(other) || size(other) - size(one));
    }

    async shard<File>(files: File[]): Promise<File[]> {
      return files;
    }
  };
}

/**
 * The suite on SQLite: everything but what stands in test/slow and test/bench, and what needs both engines at once.
 * `npm test` leaves out the tests that are tagged slow, which `npm run test:slow` runs.
 */
export default defineConfig({
  test: {
    tags: [slow],
    globalSetup: ["test/support/temporary-setup.ts", "test/support/global-setup.ts"],
    // For hangs only: the suite has to pass on a busy machine. A wait that hangs fails first, with what it waited for.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: HANG_MS, interval: 20 } },
    // One more than the cores of a small machine: a third of the suite's time is waiting for processes.
    maxWorkers: 3,
    sequence: { sequencer: longFirst(long) },
    projects: [
      { extends: true, test: { name: "alone", include: isolated } },
      {
        extends: true,
        test: {
          name: "suite",
          include: ["test/*.test.ts"],
          exclude: [...isolated, "test/migrate-to.test.ts"],
          // Files share what a process has loaded: loading the same modules again was a quarter of the suite's work.
          isolate: false,
        },
      },
    ],
  },
});
