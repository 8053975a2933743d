import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The tag of tests that take seconds by nature: races, large data, crashes, many rounds. */
export const slow = { name: "slow", description: "takes seconds by nature: `npm run test:slow` runs it" };

/** The files beside test/slow that hold slow tests, as paths from the root of the repository. */
export function filesWithSlowTests(): string[] {
  const folder = join(import.meta.dirname, "..");
  const files = readdirSync(folder).filter((name) => name.endsWith(".test.ts"));
  return files
    .filter((name) => /tags: \["slow"\]|support\/rounds\.ts/.test(readFileSync(join(folder, name), "utf8")))
    .map((name) => `test/${name}`);
}
