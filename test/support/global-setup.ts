import { execFileSync } from "node:child_process";
import { join } from "node:path";

/**
 * Builds the terminal once, so that tests run it as its users do. What Node compiles is kept: a thread that tests start
 * from the sources compiles some hundred files each time otherwise.
 */
export default function setup(): void {
  execFileSync(process.execPath, ["scripts/build.ts"], { stdio: "inherit" });
  // Not in dist: a package that is made meanwhile would have it.
  process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, "..", "..", "node_modules", ".cache", "tests");
}
