import { CliError, usageError } from "../errors.ts";
import { exitCodes } from "../exit-codes.ts";
import type { Globals } from "../globals.ts";

/** Whether a person is there to be asked: both the keyboard and the screen that prompts go to. */
export function isInteractive({ json }: Pick<Globals, "json">): boolean {
  return !json && process.stdin.isTTY === true && process.stderr.isTTY === true;
}

const onStderr = { output: process.stderr };

/** Returns when the answer is yes, or --yes was given. Throws when it is no, and where nobody can be asked. */
export async function confirm(question: string, globals: Pick<Globals, "json" | "yes">): Promise<void> {
  if (globals.yes) return;
  if (!isInteractive(globals)) {
    throw new CliError(
      "confirmation_needed",
      `This needs a confirmation: ${question}`,
      "Add --yes to go ahead.",
      exitCodes.usage,
    );
  }
  const prompts = await import("@inquirer/prompts");
  if (await prompts.confirm({ message: question, default: false }, onStderr)) return;
  throw new CliError("declined", "Nothing was changed.", "Answer y to go ahead, or add --yes.");
}

/** One of `choices`, picked by a person. `flag` answers it without asking, and is named where nobody can be asked. */
export async function select<T>(
  question: string,
  choices: { name: string; value: T }[],
  flag: string,
  globals: Pick<Globals, "json">,
): Promise<T> {
  if (!isInteractive(globals)) throw usageError(`${flag} is needed here.`, `Add ${flag}.`);
  const prompts = await import("@inquirer/prompts");
  return prompts.select({ message: question, choices }, onStderr);
}

/** A line typed by a person; Enter alone takes `suggested`. `flag` is named where nobody can be asked. */
export async function text(
  question: string,
  flag: string,
  globals: Pick<Globals, "json">,
  suggested?: string,
): Promise<string> {
  if (!isInteractive(globals)) throw usageError(`${flag} is needed here.`, `Add ${flag}.`);
  const prompts = await import("@inquirer/prompts");
  const suggestion = suggested === undefined ? {} : { default: suggested };
  return prompts.input({ message: question, required: true, ...suggestion }, onStderr);
}

/** A secret typed without an echo. `flag` is named where nobody can be asked. */
export async function secret(question: string, flag: string, globals: Pick<Globals, "json">): Promise<string> {
  if (!isInteractive(globals)) throw usageError(`${flag} is needed here.`, `Add ${flag}.`);
  const prompts = await import("@inquirer/prompts");
  return prompts.password({ message: question, mask: false }, onStderr);
}

/**
 * An argument that may hold a secret: `-` reads one line of standard input, or asks without an echo on a terminal, so
 * that it stays out of the shell's history; anything else is the value itself.
 */
export async function readSecretArgument(
  given: string,
  question: string,
  globals: Pick<Globals, "json">,
): Promise<string> {
  if (given !== "-") return given;
  if (process.stdin.isTTY === true) return secret(question, "a value instead of -", globals);
  let typed = "";
  process.stdin.setEncoding("utf8");
  for await (const chunk of process.stdin) typed += chunk;
  const line = (typed.split(/\r?\n/)[0] ?? "").trim();
  if (line === "") throw usageError("Standard input held nothing to read for -.", "Pipe the value in.");
  return line;
}
