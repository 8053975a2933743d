import { CliError, declined, usageError } from "../kernel/errors.ts";
import { exitCodes } from "../kernel/exit-codes.ts";
import type { Globals } from "../kernel/globals.ts";
import { clean, terminalText } from "./clean.ts";

/** A choice: its value and its label. */
export interface Choice<T = string> {
  value: T;
  name: string;
}

/** The options that decide whether prompts are allowed. */
export type Manner = Pick<Globals, "json" | "yes">;

/**
 * Whether prompts are allowed: stdin and stderr are a terminal, and neither --json nor --yes is given.
 */
export function isInteractive({ json, yes }: Manner): boolean {
  // In this order: the first look at stdin opens it, which takes a tenth of the start of a command.
  return !json && !yes && process.stderr.isTTY === true && process.stdin.isTTY === true;
}

/** Where a prompt is shown, and what ends it. */
interface Place {
  output: NodeJS.WriteStream;
  signal: AbortSignal;
}

/**
 * Asks on stderr. Ctrl-D closes the reader beneath a prompt, which then never answers: the prompt ends as at Ctrl-C.
 * A reader that closes pauses its input and leaves raw mode; what was put in the background stays in it.
 */
async function asked<T>(prompt: (place: Place) => Promise<T>): Promise<T> {
  const left = new AbortController();
  const { stdin, stderr: output } = process;
  const look = () => void setImmediate(() => stdin.isRaw || left.abort());
  stdin.on("pause", look);
  try {
    return await prompt({ output, signal: left.signal });
  } finally {
    stdin.off("pause", look);
  }
}

/** What is on a question's line beside it: the mark before it, and the beginning of an answer. */
const BESIDE = 12;

/** A question on lines that end between words. */
function put(question: string): string {
  const room = (process.stderr.columns ?? 80) - BESIDE;
  const lines = [""];
  for (const word of clean(question).split(" ")) {
    const line = lines.at(-1) ?? "";
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && longer.length > room) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines.join("\n");
}

/** Throws a usage error that names `flag` where there is no terminal to ask at. */
function refuseUnasked(flag: string, manner: Manner, hint = `Add ${flag}.`): void {
  if (!isInteractive(manner)) throw usageError(`${flag} is needed here.`, hint);
}

/**
 * Returns when the answer is yes, or --yes was given. `before` is printed above the question.
 * Throws `declined` when the answer is no, and `confirmation_needed` without a terminal.
 */
export async function confirm(question: string, manner: Manner, before?: () => Promise<string>): Promise<void> {
  if (manner.yes) return;
  if (!isInteractive(manner)) {
    throw new CliError(
      "confirmation_needed",
      `This needs a confirmation: ${question}`,
      "Add --yes to go ahead.",
      exitCodes.usage,
    );
  }
  if (before !== undefined) process.stderr.write(`${terminalText(await before(), { colors: true })}\n\n`);
  const prompts = await import("@inquirer/prompts");
  const message = put(question);
  if (!(await asked((place) => prompts.confirm({ message, default: false }, place)))) throw declined();
}

/** One of `choices`, found by typing a part of it. `flag` is named without a terminal, and what to do there. */
export async function pick<T>(
  question: string,
  choices: () => Promise<readonly Choice<T>[]>,
  flag: string,
  manner: Manner,
  hint?: string,
): Promise<T> {
  refuseUnasked(flag, manner, hint);
  const prompts = await import("@inquirer/prompts");
  const plain = (await choices()).map(({ name, value }) => ({ name: clean(name), value }));
  const source = (typed = "") => plain.filter(({ name }) => name.toLowerCase().includes(typed.trim().toLowerCase()));
  return asked((place) => prompts.search({ message: put(question), source }, place));
}

/** Any number of `choices`, ticked; they stay in their order. */
export async function tick<T>(question: string, choices: readonly Choice<T>[], manner: Manner): Promise<T[]> {
  refuseUnasked("A choice", manner);
  const prompts = await import("@inquirer/prompts");
  const plain = choices.map(({ name, value }) => ({ name: clean(name), value }));
  const theme = { style: { renderSelectedChoices: (ticked: readonly unknown[]) => `${ticked.length} ticked` } };
  const config = { message: put(question), choices: plain, pageSize: 12, loop: false, theme };
  return asked((place) => prompts.checkbox(config, place));
}

/** How a line is asked for. */
export interface Asking {
  /** What Enter alone answers. */
  suggested?: string | undefined;
  /** Enter alone answers nothing, "". */
  optional?: boolean;
  /** Throws a CliError, whose words the person sees, for an invalid answer. */
  check?(answer: string): unknown;
  /** What to do without a terminal. */
  hint?: string;
}

/** A line typed by a person, without blanks around it. `flag` is named without a terminal. */
export async function text(
  question: string,
  flag: string,
  manner: Manner,
  { suggested, optional = false, check, hint }: Asking = {},
): Promise<string> {
  refuseUnasked(flag, manner, hint);
  const prompts = await import("@inquirer/prompts");
  // What is shown is what a terminal may show; Enter answers what was meant by it.
  const shown = suggested === undefined ? undefined : clean(suggested);
  const suggestion = shown === undefined ? {} : { default: shown };
  const validate = (typed: string) => {
    const answer = typed.trim();
    if (answer === "") return optional || "Type it, or press Ctrl-C to leave.";
    return verdictOf(meant(answer), check);
  };
  const meant = (answer: string) => (suggested !== undefined && answer === shown?.trim() ? suggested : answer);
  const config = { message: put(question), validate, ...suggestion };
  return meant((await asked((place) => prompts.input(config, place))).trim());
}

function verdictOf(answer: string, check: Asking["check"]): true | string {
  try {
    check?.(answer);
    return true;
  } catch (error) {
    if (error instanceof CliError) return clean(error.message);
    throw error;
  }
}

/** A secret typed without an echo. `flag` is named without a terminal. */
export async function secret(question: string, flag: string, manner: Manner): Promise<string> {
  refuseUnasked(flag, manner);
  const prompts = await import("@inquirer/prompts");
  const validate = (typed: string) => typed.trim() !== "" || "Type it, or press Ctrl-C to leave.";
  const config = { message: put(question), mask: false, validate };
  return (await asked((place) => prompts.password(config, place))).trim();
}

/** Longer than any secret. */
const MOST_OF_A_LINE = 64 * 1024;

/** The first line of standard input, without its end; "" when there is none. Throws a usage error for a longer one. */
export async function lineOfInput(): Promise<string> {
  let typed = "";
  process.stdin.setEncoding("utf8");
  for await (const chunk of process.stdin) {
    typed += chunk;
    if (typed.includes("\n")) break;
    if (typed.length > MOST_OF_A_LINE) throw usageError("Standard input holds no line of text.", "Pipe the value in.");
  }
  return typed.split(/\r?\n/)[0] ?? "";
}

/**
 * An argument that may hold a secret: `-` reads one line of standard input, or asks without an echo on a terminal, so
 * that it stays out of the shell's history; anything else is the value itself.
 */
export async function readSecretArgument(
  given: string,
  question: string,
  { json }: Pick<Globals, "json">,
): Promise<string> {
  if (given !== "-") return given;
  // `-` requests the prompt, also with --yes.
  if (process.stdin.isTTY === true) return secret(question, "a value instead of -", { json, yes: false });
  const line = (await lineOfInput()).trim();
  if (line === "") throw usageError("Standard input held nothing to read for -.", "Pipe the value in.");
  return line;
}
