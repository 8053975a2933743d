import { homedir } from "node:os";
import type { Named, Naming } from "../../core/platform/names.ts";
import { globalOptions } from "../kernel/globals.ts";
import { partnerOptionsOf } from "../place/partner-options.ts";
import { resolveWhere } from "../place/place.ts";
import type { Command, Context, Noun, Tree } from "./command.ts";
import { shapeOptionsOf } from "./shapes.ts";

/** A word that is possible at the cursor, and what it means. */
export interface Candidate {
  value: string;
  help: string;
}

/** What is possible at the cursor: these words, names from the local data, or a file. */
export type Completion =
  | { kind: "words"; words: Candidate[] }
  | { kind: "names"; naming: Naming }
  | { kind: "profiles" }
  | { kind: "files" };

interface Flag {
  name: string;
  /** What its value is called; null when it takes none. */
  takes: string | null;
  choices: readonly string[];
  /** What each part of its value between commas may be. */
  suggests: readonly string[];
  help: string;
}

/** The words of a line as one types them: bash breaks --tier=standard into three. */
function wordsTyped(typed: readonly string[]): string[] {
  return typed.filter((word, at) => word !== "=" || at === typed.length - 1);
}

/** What is possible in place of the last of `typed`, the words after the program's name. */
export async function complete(typed: readonly string[], tree: Tree): Promise<Completion> {
  const words = wordsTyped(typed);
  const current = words.at(-1) === "=" ? "" : (words.at(-1) ?? "");
  const before = words.slice(0, -1);
  const globals = globalOptions.map(([flags, help]) => asFlag({ flags, help }));
  const { command, path, noun, rest, lost } = await commandOf(before, tree, globals);
  const flags = [...(command === null ? [] : flagsOf(command)), ...globals];
  const last = flags.find(({ name }) => name === before.at(-1));
  if (last !== undefined && last.takes !== null) return valueFor(last, current);
  if (current.startsWith("-")) return wordsOf(flags.map(({ name, help }) => ({ value: name, help })));
  if (command !== null) return argumentOf(command, path, rest);
  if (lost) return wordsOf([]);
  const listed = noun === null ? [...tree.singles, ...tree.nouns] : noun.verbs;
  return wordsOf(listed.map(({ name, summary }) => ({ value: name, help: summary })));
}

interface Found {
  command: Command | null;
  /** The words that name the command. */
  path: string;
  noun: Noun | null;
  /** How many arguments of the command are there already. */
  rest: number;
  /** There are words, and they name nothing. */
  lost: boolean;
}

async function commandOf(before: readonly string[], tree: Tree, globals: readonly Flag[]): Promise<Found> {
  const [first, ...more] = plainWords(before, globals);
  const single = tree.singles.find(({ name }) => name === first);
  if (single !== undefined) return counted(await single.load(), before, [single.name], globals);
  const noun = tree.nouns.find(({ name }) => name === first) ?? null;
  const verb = noun?.verbs.find(({ name }) => name === more[0]);
  const lost = (first !== undefined && noun === null) || more.length > 0;
  if (verb === undefined || noun === null) return { command: null, path: "", noun, rest: 0, lost };
  return counted(await verb.load(), before, [noun.name, verb.name], globals);
}

function counted(
  command: Command,
  before: readonly string[],
  named: readonly string[],
  globals: readonly Flag[],
): Found {
  const rest = plainWords(before, [...flagsOf(command), ...globals]).length - named.length;
  return { command, path: named.join(" "), noun: null, rest, lost: false };
}

/** Words that are neither flags nor their values. */
function plainWords(words: readonly string[], flags: readonly Flag[]): string[] {
  const takes = (word: string | undefined) => flags.some(({ name, takes }) => name === word && takes !== null);
  return words.filter((word, at) => !word.startsWith("-") && !takes(words[at - 1]));
}

function flagsOf(command: Command): Flag[] {
  const { options, target } = command;
  return [...options, ...partnerOptionsOf(target), ...shapeOptionsOf(command)].flatMap(({ flags, ...option }) =>
    flags.map((one) => asFlag({ ...option, flags: one })),
  );
}

interface Written {
  flags: string;
  help: string;
  choices?: readonly string[];
  suggests?: readonly string[];
}

/** `-o, --output <file>`: the long name and what it takes. */
function asFlag({ flags, help, choices = [], suggests = [] }: Written): Flag {
  const [, name = flags, takes = null] = /(--[a-z-]+)(?: [<[]([^>\]]+)[>\]])?/.exec(flags) ?? [];
  return { name, takes, choices, suggests, help };
}

/** What is named by the words in which an option or argument says what it takes; `id` says it only beside its noun. */
const namings: Readonly<Record<string, Naming>> = {
  slug: "partners",
  "client-id": "credentials",
  sku: "products",
  "sku-or-id": "products",
  product: "products",
  prefix: "carriers",
  "--endpoint": "webhooks",
  "orders id": "orders",
  "webhooks id": "webhooks",
  "suppliers name": "suppliers",
};

function valueFor({ name, takes, choices, suggests }: Flag, current: string): Completion {
  if (choices.length > 0) return wordsOf(choices.map((value) => ({ value, help: "" })));
  if (suggests.length > 0) return wordsOf(nextInList(current, suggests));
  if (name === "--profile") return { kind: "profiles" };
  const naming = namings[name] ?? namings[takes ?? ""];
  if (naming !== undefined) return { kind: "names", naming };
  return /file|dir/.test(takes ?? "") ? { kind: "files" } : wordsOf([]);
}

/** A list with commas, continued by each of the words that it does not have yet. */
function nextInList(current: string, words: readonly string[]): Candidate[] {
  const whole = current.split(",").slice(0, -1);
  const left = words.filter((word) => !whole.includes(word));
  return left.map((word) => ({ value: [...whole, word].join(","), help: "" }));
}

function argumentOf({ args }: Command, path: string, at: number): Completion {
  const argument = args[at] ?? args.findLast((one) => one.syntax.includes("..."));
  if (argument === undefined) return wordsOf([]);
  const { syntax, ask } = argument;
  if (typeof ask === "object") return wordsOf(ask.oneOf.map((value) => ({ value, help: "" })));
  const word = syntax.replaceAll(/[^a-z-]/g, "");
  const naming = namings[`${path.split(" ")[0]} ${word}`] ?? namings[word];
  // A name of something new is not known yet.
  if (naming !== undefined && !path.endsWith(" create")) return { kind: "names", naming };
  return /file/.test(syntax) ? { kind: "files" } : wordsOf([]);
}

/** The shells that are known. */
export const shells = ["bash", "zsh", "fish"] as const;

function wordsOf(words: Candidate[]): Completion {
  return { kind: "words", words };
}

/**
 * Names from the data directory that the typed line selects. Completion must neither fail nor wait: at a server, at a
 * database over the network, or without data there are none.
 */
export async function namesAtHand({ globals }: Context, naming: Naming, typed: readonly string[]): Promise<Named[]> {
  const words = wordsTyped(typed);
  const said = (flag: string, otherwise?: string) => {
    const joined = words.find((word) => word.startsWith(`${flag}=`))?.slice(flag.length + 1);
    return joined ?? (words.includes(flag) ? words[words.indexOf(flag) + 1] : otherwise);
  };
  try {
    const [{ namesIn }, { dataDirectory }] = await Promise.all([
      import("../../core/platform/names.ts"),
      import("../../core/platform/data-directory.ts"),
    ]);
    const where = await resolveWhere(
      {
        ...globals,
        data: said("--data", globals.data),
        database: said("--database", globals.database),
        keyFile: said("--key-file", globals.keyFile),
        server: said("--server", globals.server),
        profile: said("--profile", globals.profile),
      },
      process.env,
    );
    if (where.kind !== "directory") return [];
    const slug = said("--partner");
    const environment = words.includes("--sandbox") ? "sandbox" : "production";
    const owner = slug === undefined ? null : ({ slug, environment } as const);
    // A shell passes its own short form of the home folder unchanged.
    return namesIn(dataDirectory(where.path.replace(/^~(?=\/|$)/, homedir())).databaseFile, naming, owner);
  } catch {
    return [];
  }
}
