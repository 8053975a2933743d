import { mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

/**
 * Makes a directory (0700) and its parents; answers the topmost that it made, undefined when all were there. Node's own
 * way never ends where the system denies that a parent exists which does, as everywhere below /proc.
 */
export function makeDirectory(path: string): string | undefined {
  const whole = resolve(path);
  try {
    mkdirSync(whole, { mode: 0o700 });
    return whole;
  } catch (error) {
    if (codeOf(error) === "EEXIST" && statSync(whole).isDirectory()) return undefined;
    if (codeOf(error) !== "ENOENT" || dirname(whole) === whole) throw error;
  }
  const made = makeDirectory(dirname(whole));
  mkdirSync(whole, { mode: 0o700 });
  return made ?? whole;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error ? Reflect.get(error, "code") : undefined;
}
