import { defineConfig } from "vitest/config";

/** The suite on SQLite: everything but what stands in test/slow and test/bench, and what needs both engines at once. */
export default defineConfig({
  test: {
    include: ["test/*.test.ts"],
    exclude: ["test/migrate-to.test.ts"],
    globalSetup: ["test/support/global-setup.ts"],
    testTimeout: 20_000,
    hookTimeout: 30_000,
    maxWorkers: 2,
  },
});
