import type { ExitCode } from "../kernel/exit-codes.ts";
import type { Argument, Option, ValuesOf } from "../kernel/input.ts";
import type { Result } from "../output/result.ts";
import type { Context } from "./context.ts";

/**
 * Where a command acts. `operator`: on the operator's data only. `partner`: for one partner, through the v1 API.
 * `catalog`: through the v1 API on what all partners share, so that naming one is optional. `process`: the program
 * itself (init, serve).
 */
export type Target = "operator" | "partner" | "catalog" | "process";

interface Described {
  /** The verb, or the whole name of a command without a noun. */
  readonly name: string;
  /** One line for lists of commands. */
  readonly summary: string;
  readonly target: Target;
  /** What running it changes, for its help. */
  readonly effects: string;
  /** The keys of its JSON document, for its help. */
  readonly json?: string;
  /** Lines as one would type them, after `esimctl`. At least one. */
  readonly examples: readonly string[];
  /** Exit codes beyond those that every command has. */
  readonly exits?: readonly ExitCode[];
  /** Stops on signals by itself: `serve` and other commands that stay. */
  readonly stays?: boolean;
  /** Works in batches and ends after the one under way when `context.interruption` is aborted. */
  readonly batches?: boolean;
}

interface Typed<A, O> extends Described {
  readonly args: A;
  readonly options: O;
  /** The result to print, or null when it printed by itself. */
  run(context: Context, input: ValuesOf<A> & ValuesOf<O>): Promise<Result | null>;
}

/** A command as the frame drives it: what was typed comes in as commander found it. */
export interface Command extends Described {
  readonly args: readonly Argument<unknown>[];
  readonly options: readonly Option<unknown>[];
  run(context: Context, given: Given): Promise<Result | null>;
}

/** What was typed, in the order of the command's own arguments and options. */
export interface Given {
  readonly args: readonly unknown[];
  readonly options: readonly unknown[];
}

/** Describes a command; `run` gets its arguments and options typed, under the names they have here. */
export function command<
  const A extends Record<string, Argument<unknown>>,
  const O extends Record<string, Option<unknown>>,
>(description: Typed<A, O>): Command {
  const { args, options, run, ...described } = description;
  return {
    ...described,
    args: Object.values(args),
    options: Object.values(options),
    run(context, given) {
      const values = { ...readAll(args, given.args), ...readAll(options, given.options) };
      // Each name holds the result of its own `read`, as ValuesOf declares.
      return run(context, values as ValuesOf<A> & ValuesOf<O>);
    },
  };
}

function readAll(specs: Record<string, { read(given: unknown): unknown }>, given: readonly unknown[]) {
  return Object.fromEntries(Object.entries(specs).map(([name, spec], at) => [name, spec.read(given[at])]));
}

/** A noun and its verbs, which are loaded when the noun is named. */
export interface Noun {
  name: string;
  summary: string;
  verbs(): Promise<readonly Command[]>;
}

/** A command without a noun. */
export interface Single {
  name: string;
  summary: string;
  load(): Promise<Command>;
}

/** All commands of the program. */
export interface Commands {
  readonly singles: readonly Single[];
  readonly nouns: readonly Noun[];
}
