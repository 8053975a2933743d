import { invalid } from "../kernel/problem.ts";

const MOST_BYTES = 16 * 1024;
const MOST_LEVELS = 32;

/** Throws `validation` when an order's metadata is larger than 16 KiB as JSON or deeper than 32 levels. */
export function checkMetadata(metadata: Record<string, unknown>): void {
  if (levelsOf(metadata) > MOST_LEVELS) throw invalid({ metadata: [`must be at most ${MOST_LEVELS} levels deep`] });
  if (Buffer.byteLength(JSON.stringify(metadata)) > MOST_BYTES) {
    throw invalid({ metadata: ["must be at most 16 KiB as JSON"] });
  }
}

function levelsOf(root: object): number {
  let level = 0;
  let here: object[] = [root];
  // Level by level, so that no depth can exhaust the stack.
  while (here.length > 0 && level <= MOST_LEVELS) {
    level++;
    here = here.flatMap((value) => Object.values(value).filter((child) => typeof child === "object" && child !== null));
  }
  return level;
}
