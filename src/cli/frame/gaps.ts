import { Problem } from "../../core/kernel/problem.ts";
import { type CliError, usageError } from "../kernel/errors.ts";
import type { Argument, Ask } from "../kernel/input.ts";
import { pick, secret, text } from "../output/prompts.ts";
import { capital } from "../output/words.ts";
import { pickPartner, THEIR_SLUGS } from "../place/partner-options.ts";
import type { Command, Context, Given, Picks } from "./command.ts";

/** A required argument or option that is missing. */
interface Gap {
  /** As it is typed: `<slug>`, `--name <name>`. */
  syntax: string;
  help: string;
  how: Ask | Picks;
  /** Throws a usage error for an invalid answer. */
  read(answer: string): unknown;
  fill(answer: string): void;
}

/** The missing arguments, then the missing options, in the order of the command's help. */
function gapsOf({ args, options, picks }: Command, given: { args: unknown[]; options: unknown[] }): Gap[] {
  if (options.some(({ alone }, at) => alone && given.options[at] === true)) return [];
  const needed = [
    ...args.map((one, at) => {
      const needs = one.syntax.startsWith("<");
      return { ...one, ...(at === 0 && picks !== undefined ? { ask: picks } : {}), needs, into: given.args, at };
    }),
    ...options.map((one, at) => ({ ...one, syntax: one.flags[0] ?? "", needs: one.required, into: given.options, at })),
  ];
  return needed
    .filter(({ needs, into, at }) => needs && isLeftOut(into[at]))
    .map(({ syntax, help, ask: how = "line", read, into, at }) => {
      const fill = (answer: string) => {
        into[at] = answer;
      };
      return { syntax, help, how, read, fill };
    });
}

/** Commander makes an empty list of an argument of several words that was left out. */
function isLeftOut(given: unknown): boolean {
  return given === undefined || (Array.isArray(given) && given.length === 0);
}

/** An argument as a usage line has it. */
export function typedAs({ syntax, literal }: Argument<unknown>): string {
  return literal ?? syntax;
}

/** A usage line: arguments, then the options that must be given. */
export function usageOf({ args, options }: Command): string {
  const needed = options.flatMap(({ required, flags }) => (required ? flags : []));
  return [...args.map(typedAs), ...needed, "[options]"].join(" ");
}

/** What to throw where something is missing and there is no terminal to ask for it; null: nothing is missing. */
export function missing(command: Command, given: Given, path: string): CliError | null {
  const [gap] = gapsOf(command, { args: [...given.args], options: [...given.options] });
  if (gap === undefined) return null;
  const what = gap.syntax.startsWith("-")
    ? `Required option '${gap.syntax}' not specified.`
    : `Missing required argument '${gap.syntax.slice(1, -1)}'.`;
  const where = gap.how === "partner" ? ` ${THEIR_SLUGS}` : "";
  return usageError(what, `See ${path} --help.${where}`);
}

/**
 * A refusal by core that names options which were left out, as the usage error that it is: some are needed only beside
 * others, or for a record that is new. Any other error is returned as it is.
 */
export function asMissing(error: unknown, { options }: Command, given: Given): unknown {
  if (!(error instanceof Problem) || error.slug !== "validation") return error;
  const fields = Object.entries(error.errors ?? {});
  const left = fields.flatMap(([field, words]) => {
    const name = `--${field.replaceAll("_", "-")}`;
    const at = options.findIndex(({ flags }) => flags.some((one) => one.split(" ")[0] === name));
    return at === -1 || given.options[at] !== undefined ? [] : [`${options[at]?.flags[0]} ${words.join(" and ")}`];
  });
  if (left.length === 0 || left.length < fields.length) return error;
  return usageError(`${left.join("; ")}.`, `Add ${left.length === 1 ? "it" : "them"}.`);
}

/** Prompts for each missing value and returns them together with the given ones. */
export async function askForMissing(context: Context, command: Command, given: Given): Promise<Given> {
  const filled = { args: [...given.args], options: [...given.options] };
  for (const gap of gapsOf(command, filled)) gap.fill(await answerTo(context, gap));
  return filled;
}

async function answerTo(context: Context, { syntax, help, how, read }: Gap): Promise<string> {
  const { globals } = context;
  const name = nameOf(syntax);
  if (how === "partner") return context.withStore(({ store }) => pickPartner(globals, store, syntax));
  if (typeof how === "object" && "choices" in how) {
    return pick(how.question, () => context.withStore(({ store }) => how.choices(store)), syntax, globals);
  }
  if (typeof how === "object") return pick(`${name}:`, async () => wordChoices(how.oneOf), syntax, globals);
  const question = questionOf(name, help);
  return how === "secret" ? secret(question, syntax, globals) : text(question, syntax, globals, { check: read });
}

function wordChoices(words: readonly string[]) {
  return words.map((value) => ({ value, name: value }));
}

/** "Name – the name people read:"; help that begins with the name says it all. */
function questionOf(name: string, help: string): string {
  // At a prompt the note about - and standard input is of no use.
  const words = help.replace(/; - .*$/, "");
  const whole = words.toLowerCase().startsWith(`${name.toLowerCase()} `) ? capital(words) : `${name} – ${words}`;
  return `${whole}:`;
}

/** "Client id" of `<client-id>`, "Amount" of `--amount <amount>`. */
function nameOf(syntax: string): string {
  const words = syntax.replace(/^--/, "").replace(/ .*$/, "").replace(/[<>]/g, "").replaceAll("-", " ");
  return capital(words.replace(/\b(id|url|sku|iccid)\b/g, (one) => one.toUpperCase()));
}
