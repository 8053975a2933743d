import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import type { Bench, Measured } from "./bench.ts";

const SYNC_US = 4_000;

/**
 * Orders, and reads beside orders, on a disk whose syncs take 4 ms: both sides run in a process whose calls a small
 * library delays. Without a C compiler it is left out, with a line that says so.
 */
export const slowDisk: Bench = async (scale) => {
  const folder = mkdtempSync(join(tmpdir(), "esimctl-slow-"));
  try {
    const library = join(folder, "slow-sync.so");
    const source = join(import.meta.dirname, "slow-sync.c");
    const built = await execa("cc", ["-shared", "-fPIC", "-O2", "-o", library, source, "-ldl"], { reject: false });
    if (built.failed) {
      console.log(`The slow disk is not measured, as cc cannot build its library: ${built.shortMessage}`);
      return [];
    }
    const program = join(import.meta.dirname, "slow-disk-sides.ts");
    const env = { LD_PRELOAD: library, SLOW_SYNC_US: String(SYNC_US) };
    const { stdout } = await execa(process.execPath, [program, JSON.stringify(scale)], { env });
    // The lines that the program prints.
    return JSON.parse(stdout) as Measured[];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
