import type { Argument, Option } from "../kernel/input.ts";

/** A command as it is described to people: completion and the manual read it. */
export interface DescribedCommand {
  readonly name: string;
  readonly summary: string;
  readonly target: string;
  readonly effects: string;
  readonly json?: string;
  readonly examples: readonly string[];
  readonly args: readonly Argument<unknown>[];
  readonly options: readonly Option<unknown>[];
}

/** All that can be typed: commands without a noun, and nouns with their verbs, loaded on first use. */
export interface CommandTree {
  readonly singles: readonly { name: string; summary: string; load(): Promise<DescribedCommand> }[];
  readonly nouns: readonly { name: string; summary: string; verbs(): Promise<readonly DescribedCommand[]> }[];
}
