import { defineConfig } from "vitest/config";
import { HANG_MS } from "./test/support/hangs.ts";

/** The same core and HTTP tests on a PostgreSQL that the suite starts itself. */
export default defineConfig({
  test: {
    include: ["test/*.test.ts"],
    globalSetup: ["test/support/global-setup.ts", "test/support/postgres-setup.ts"],
    // For hangs only: the suite has to pass on a busy machine. A wait that hangs fails first, with what it waited for.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: HANG_MS, interval: 20 } },
    maxWorkers: 2,
    // As in the other suite: files share what a process has loaded.
    isolate: false,
    // Here the engine makes no difference: the terminal as a process, CSV files, the shape of the sources.
    exclude: [
      "test/cli*.test.ts",
      "test/csv.test.ts",
      "test/tidy.test.ts",
      "test/language.test.ts",
      "test/architecture.test.ts",
      "test/query-plans.test.ts",
      "test/serve.test.ts",
      "test/serve-workers.test.ts",
      "test/bench.test.ts",
      "test/wal-size.test.ts",
    ],
    env: { ESIMCTL_TEST_ENGINE: "postgres" },
  },
});
