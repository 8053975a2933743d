import { defineConfig } from "vitest/config";
import { HANG_MS } from "./test/support/hangs.ts";

/** The slow ones: crashes on the real process, terminals, browsers, fuzzing. One file at a time. */
export default defineConfig({
  test: {
    include: ["test/slow/*.test.ts"],
    globalSetup: ["test/support/global-setup.ts"],
    testTimeout: 600_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: HANG_MS, interval: 20 } },
    fileParallelism: false,
  },
});
