import { globalOptions } from "../globals.ts";
import { partnerOptionsOf } from "../partner-options.ts";
import type { CommandTree, DescribedCommand } from "../tree.ts";

/** A word that may stand at the cursor, and what it means. */
export interface Candidate {
  value: string;
  help: string;
}

/** What may stand at the cursor: these words, names that only the machine at hand knows, or a file. */
export type Completion =
  | { kind: "words"; words: Candidate[] }
  | { kind: "partners" }
  | { kind: "profiles" }
  | { kind: "files" };

interface Flag {
  name: string;
  /** What its value is called; null when it takes none. */
  takes: string | null;
  choices: readonly string[];
  help: string;
}

/** What may stand in place of the last of `typed`, the words after the program's name. */
export async function complete(typed: readonly string[], tree: CommandTree): Promise<Completion> {
  // bash breaks --tier=standard into three words.
  const words = typed.filter((word, at) => word !== "=" || at === typed.length - 1);
  const current = words.at(-1) === "=" ? "" : (words.at(-1) ?? "");
  const before = words.slice(0, -1);
  const globals = globalOptions.map(([flags, help]) => asFlag(flags, help, []));
  const { command, noun, rest, lost } = await commandOf(before, tree, globals);
  const flags = [...(command === null ? [] : flagsOf(command)), ...globals];
  const last = flags.find(({ name }) => name === before.at(-1));
  if (last !== undefined && last.takes !== null) return valueFor(last);
  if (current.startsWith("-")) return wordsOf(flags.map(({ name, help }) => ({ value: name, help })));
  if (command !== null) return argumentOf(command, rest);
  if (lost) return wordsOf([]);
  const listed = noun === null ? [...tree.singles, ...tree.nouns] : await noun.verbs();
  return wordsOf(listed.map(({ name, summary }) => ({ value: name, help: summary })));
}

interface Found {
  command: DescribedCommand | null;
  noun: CommandTree["nouns"][number] | null;
  /** How many arguments of the command are there already. */
  rest: number;
  /** There are words, and they name nothing. */
  lost: boolean;
}

async function commandOf(before: readonly string[], tree: CommandTree, globals: readonly Flag[]): Promise<Found> {
  const [first, ...more] = plainWords(before, globals);
  const single = tree.singles.find(({ name }) => name === first);
  if (single !== undefined) return counted(await single.load(), before, 1, globals);
  const noun = tree.nouns.find(({ name }) => name === first) ?? null;
  const verb = (await noun?.verbs())?.find(({ name }) => name === more[0]);
  const lost = (first !== undefined && noun === null) || more.length > 0;
  return verb === undefined ? { command: null, noun, rest: 0, lost } : counted(verb, before, 2, globals);
}

function counted(command: DescribedCommand, before: readonly string[], named: number, globals: readonly Flag[]): Found {
  const rest = plainWords(before, [...flagsOf(command), ...globals]).length - named;
  return { command, noun: null, rest, lost: false };
}

/** Words that are neither flags nor their values. */
function plainWords(words: readonly string[], flags: readonly Flag[]): string[] {
  const takes = (word: string | undefined) => flags.some(({ name, takes }) => name === word && takes !== null);
  return words.filter((word, at) => !word.startsWith("-") && !takes(words[at - 1]));
}

function flagsOf({ options, stand }: DescribedCommand): Flag[] {
  return [...options, ...partnerOptionsOf(stand)].flatMap(({ flags, help, choices = [] }) =>
    flags.map((one) => asFlag(one, help, choices)),
  );
}

/** `-o, --output <file>`: the long name and what it takes. */
function asFlag(flags: string, help: string, choices: readonly string[]): Flag {
  const [, name = flags, takes = null] = /(--[a-z-]+)(?: [<[]([^>\]]+)[>\]])?/.exec(flags) ?? [];
  return { name, takes, choices, help };
}

function valueFor({ name, takes, choices }: Flag): Completion {
  if (choices.length > 0) return wordsOf(choices.map((value) => ({ value, help: "" })));
  if (name === "--partner") return { kind: "partners" };
  if (name === "--profile") return { kind: "profiles" };
  return /file|dir/.test(takes ?? "") ? { kind: "files" } : wordsOf([]);
}

function argumentOf({ args }: DescribedCommand, at: number): Completion {
  const syntax = (args[at] ?? args.findLast((one) => one.syntax.includes("...")))?.syntax ?? "";
  if (syntax.includes("slug")) return { kind: "partners" };
  if (syntax.includes("shell")) return wordsOf(shells.map((value) => ({ value, help: "" })));
  return /file/.test(syntax) ? { kind: "files" } : wordsOf([]);
}

/** The shells that are known. */
export const shells = ["bash", "zsh", "fish"] as const;

function wordsOf(words: Candidate[]): Completion {
  return { kind: "words", words };
}
