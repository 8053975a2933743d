import { defineConfig } from "vitest/config";
import { HANG_MS } from "./test/support/hangs.ts";

/** Modules are loaded anew for this one: it looks at what each does while it is loaded. */
const isolated = ["test/query-plans.test.ts"];

/** The suite on SQLite: everything but what stands in test/slow and test/bench, and what needs both engines at once. */
export default defineConfig({
  test: {
    globalSetup: ["test/support/global-setup.ts"],
    // For hangs only: the suite has to pass on a busy machine. A wait that hangs fails first, with what it waited for.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: HANG_MS, interval: 20 } },
    maxWorkers: 2,
    projects: [
      { extends: true, test: { name: "alone", include: isolated } },
      {
        extends: true,
        test: {
          name: "suite",
          include: ["test/*.test.ts"],
          exclude: [...isolated, "test/migrate-to.test.ts"],
          // Files share what a process has loaded: a quarter of the suite's work was loading the same modules again.
          isolate: false,
        },
      },
    ],
  },
});
