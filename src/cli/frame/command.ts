import type { CsvSpec } from "../../core/csv/columns.ts";
import type { GivenKey } from "../../core/store/sealing/key-files.ts";
import type { Store } from "../../core/store/store.ts";
import type { ActsFor, Api, Caller, OwnerOf, StoreUse } from "../client/api.ts";
import type { ExitCode } from "../kernel/exit-codes.ts";
import type { Argument, Option, ValuesOf } from "../kernel/input.ts";
import type { Listing } from "../output/listing.ts";
import type { Choice } from "../output/prompts.ts";
import type { Result } from "../output/result.ts";
import type { Sheet } from "../output/sheet.ts";
import type { Place, Where } from "../place/place.ts";

/**
 * Where a command acts. `operator`: on the operator's data only. `partner`: for one partner, through the v1 API.
 * `catalog`: through the v1 API on what all partners share, so that naming one is optional. `process`: the program
 * itself (init, serve).
 */
export type Target = "operator" | "partner" | "catalog" | "process";

/** What a person at a terminal picks from where the first argument is left out: a queue, the longest waiting first. */
export interface Picks {
  question: string;
  /** As many as fit a choice by typing. Throws where there are none. */
  choices(store: Store): Promise<readonly Choice[]>;
}

/** What a command that only reads prints. */
export type Shown = "rows" | "record";

interface Described {
  readonly target: Target;
  /** It lists rows, or shows one record: its document can be printed in other shapes too (frame/shapes.ts). */
  readonly shows?: Shown;
  readonly picks?: Picks;
  /** It acts in the sandbox alone, without --sandbox too. */
  readonly sandboxOnly?: true;
  /** What running it changes, for its help. */
  readonly effects: string;
  /** The keys of its JSON document, for its help. */
  readonly json?: string;
  /** Lines as one would type them, after `esimctl`. At least one. */
  readonly examples: readonly string[];
  /** The columns of the CSV file that it reads, for its help and its template. */
  readonly csv?: CsvSpec;
  /** How fields that core refuses are typed, by their names in core: `{ end: "--on" }`. */
  readonly fields?: Readonly<Record<string, string>>;
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
    async run(context, given) {
      const { csv } = description;
      if (csv !== undefined && given.options[Object.keys(options).indexOf("template")] === true) {
        return (await import("./template-result.ts")).templateResult(csv);
      }
      const values = { ...readAll(args, given.args), ...readAll(options, given.options) };
      // Each name holds the result of its own `read`, as ValuesOf declares.
      return run(context, values as ValuesOf<A> & ValuesOf<O>);
    },
  };
}

function readAll(specs: Record<string, { read(given: unknown): unknown }>, given: readonly unknown[]) {
  return Object.fromEntries(Object.entries(specs).map(([name, spec], at) => [name, spec.read(given[at])]));
}

/** Where a command works: on the data at hand, at a server, at both; `-`: it needs neither. */
export type Works = "data" | "server" | "both" | "-";

/** A command as lists show it; the command itself is loaded when it is named. */
export interface Entry {
  readonly name: string;
  /** One line. */
  readonly summary: string;
  readonly works: Works;
  load(): Promise<Command>;
}

/** A noun and its verbs, in the order of its help. */
export interface Noun {
  readonly name: string;
  readonly summary: string;
  readonly verbs: readonly Entry[];
}

/** All commands of the program: those without a noun, and nouns with their verbs. */
export interface Tree {
  readonly singles: readonly Entry[];
  readonly nouns: readonly Noun[];
}

/** What a confirmation shows beside the question. */
export interface Confirmed {
  /** Whose it is, e.g. "acme, production"; left out where the question says it. */
  whose?: string;
  /** What will change, drawn above the question; made only where a person is asked. */
  changes?(sheet: Sheet): Promise<string>;
}

/** What a command may use. Heavy modules are loaded on first use. */
export interface Context extends Caller {
  /** The partner and environment given by --partner and --sandbox. */
  readonly actsFor: ActsFor;
  /** All commands there are. */
  readonly tree: Tree;
  /** Where the command acts. Throws a usage error when the options contradict each other, `no_such_profile`. */
  where(): Promise<Where>;
  /** The data that it works on; throws also `operator_only` where the command would act at a server. */
  place(): Promise<Place>;
  /** Master keys that are kept outside the data: in the environment, or as a credential. Throws `StoreError`. */
  givenKeys(): readonly GivenKey[];
  /** What was taken out of the environment, for child processes that need it. */
  readonly secretEnv: Readonly<Record<string, string | undefined>>;
  /**
   * Runs `work` with the v1 API: as the partner of --partner, or of the server's credential. On local data without
   * --partner, `ownerOf` finds the owner of the named object.
   */
  withApi<T>(work: (api: Api) => Promise<T>, ownerOf?: OwnerOf, use?: StoreUse): Promise<T>;
  /** Asks before an act, naming the place; returns when the answer is yes. Throws otherwise, and without a terminal. */
  confirm(question: string, about?: Confirmed): Promise<void>;
  /** Prints a list page by page, as it is read: the result of a command that reads while it prints. */
  print<T extends object>(listing: Listing<T>): Promise<null>;
  /** Prints a line on stderr, not with --quiet. */
  note(line: string): void;
  /** Prints a line on stderr, also with --quiet. */
  warn(line: string): void;
}
