import type { Command as Commander } from "commander";
import { type CliError, usageError } from "../kernel/errors.ts";
import type { Option } from "../kernel/input.ts";

/**
 * The long names of the options that are typed, from now on: added while `commander` parses. Its values do not say it:
 * `--agent` and `--no-agent` are one value to it, and the last one would win in silence.
 */
export function noteTyped(commander: Commander, typed: Set<string>): void {
  for (const { long } of commander.options) {
    if (long) commander.on(`option:${long.slice(2)}`, () => typed.add(long));
  }
}

/** What to throw where two of the options typed exclude each other; null: none do. */
export function contradiction(options: readonly Option<unknown>[], typed: ReadonlySet<string>): CliError | null {
  for (const { flags, excludes = [] } of options) {
    const [first, second] = flags.map(longName).filter((name) => typed.has(name));
    const other = second ?? excludes.find((name) => typed.has(name));
    if (first !== undefined && other !== undefined) {
      return usageError(`${first} and ${other} exclude each other.`, "Give one of them.");
    }
  }
  return null;
}

/** `--output` of `-o, --output <file>`. */
function longName(flags: string): string {
  return /--[a-z-]+/.exec(flags)?.[0] ?? flags;
}
