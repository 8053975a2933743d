import { defineConfig } from "vitest/config";

/** The slow ones: crashes on the real process, terminals, browsers, fuzzing. One file at a time. */
export default defineConfig({
  test: {
    include: ["test/slow/*.test.ts"],
    globalSetup: ["test/support/global-setup.ts"],
    testTimeout: 600_000,
    hookTimeout: 120_000,
    fileParallelism: false,
  },
});
