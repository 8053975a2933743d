import { usageError } from "./errors.ts";

/**
 * How the prompt for a missing value works: a line, a line without echo, one of the local partners, or one of these
 * words.
 */
export type Ask = "line" | "secret" | "partner" | { readonly oneOf: readonly string[] };

/** One option of a command. `flags` are written as commander writes them; T is what the command gets. */
export interface Option<T> {
  readonly flags: readonly string[];
  readonly help: string;
  readonly required: boolean;
  readonly choices?: readonly string[];
  /** Words that completion offers between commas; other words are allowed. */
  readonly suggests?: readonly string[];
  /** How a required one is prompted for. */
  readonly ask?: Ask;
  /** Names of others, `--until`, that it contradicts: together they are refused. Several `flags` always are. */
  readonly excludes?: readonly string[];
  /** May be given several times; each time adds a value. */
  readonly repeats?: true;
  /** Given, nothing else is missing: the command prints something and does nothing. */
  readonly alone?: true;
  /** The value that commander parsed (undefined: not given), converted for the command. Throws a usage error. */
  read(given: unknown): T;
}

/** One positional argument: `slug` is required, `[id]` may be left out, `ids...` takes all that follow. */
export interface Argument<T> {
  readonly syntax: string;
  /** A fixed word that is typed: the second one of a verb of two words. */
  readonly literal?: string;
  readonly help: string;
  /** How a required one is prompted for. */
  readonly ask?: Ask;
  read(given: unknown): T;
}

/** The value that a set of options or arguments yields, by name. */
export type ValuesOf<S> = { [K in keyof S]: S[K] extends { read(given: unknown): infer T } ? T : never };

/** `--name <text>` */
export function text(flags: string, help: string): Option<string | undefined> {
  return { flags: [flags], help, required: false, read: asText };
}

/** `--live`: true when given. */
export function flag(flags: string, help: string): Option<boolean> {
  return { flags: [flags], help, required: false, read: (given) => given === true };
}

/** `--no-luhn`: true unless given. */
export function unless(flags: string, help: string): Option<boolean> {
  return { flags: [flags], help, required: false, read: (given) => given !== false };
}

/** `--agent` and `--no-agent`: true, false, or undefined when neither is given. */
export function toggle(name: string, help: string): Option<boolean | undefined> {
  return {
    flags: [`--${name}`, `--no-${name}`],
    help,
    required: false,
    read: (given) => (typeof given === "boolean" ? given : undefined),
  };
}

/** `--price-list <name>` and `--no-price-list`: the text, null, or undefined when neither is given. */
export function textOrNot(name: string, value: string, help: string): Option<string | null | undefined> {
  const read = (given: unknown) => (given === false ? null : asText(given));
  return { flags: [`--${name} <${value}>`, `--no-${name}`], help, required: false, read };
}

/** `--tier <tier>` with one of `choices`. */
export function choice<const C extends string>(
  flags: string,
  choices: readonly C[],
  help: string,
): Option<C | undefined> {
  const read = (given: unknown) => choices.find((one) => one === given);
  return { flags: [flags], help, required: false, choices, read };
}

/** `--limit <n>`: a whole number within the bounds. */
export function integer(
  flags: string,
  help: string,
  { min = 0, max = Number.MAX_SAFE_INTEGER }: { min?: number; max?: number } = {},
): Option<number | undefined> {
  const read = (given: unknown) => {
    const typed = asText(given);
    if (typed === undefined) return undefined;
    const value = Number(typed);
    if (/^\d+$/.test(typed) && value >= min && value <= max) return value;
    const bounds = max === Number.MAX_SAFE_INTEGER ? `${min} or more` : `from ${min} to ${max}`;
    throw usageError(`${flags} must be a whole number ${bounds}, not "${typed}".`, "Correct the number.");
  };
  return { flags: [flags], help, required: false, read };
}

/** `--max-pool <n>`: a whole number from 0 to `max`, or `none`, which is null. */
export function bound(flags: string, help: string, { max }: { max: number }): Option<number | null | undefined> {
  const number = integer(flags, help, { max });
  return { ...number, read: (given) => (given === "none" ? null : number.read(given)) };
}

/**
 * `--low-data <percents>`: whole numbers from 1 to `max`, separated by commas; `none` is an empty list, and `default`
 * null.
 */
export function numbers(
  flags: string,
  help: string,
  { max }: { max: number },
): Option<readonly number[] | null | undefined> {
  const read = (given: unknown) => {
    const typed = asText(given);
    if (typed === undefined) return undefined;
    if (typed === "none" || typed === "default") return typed === "none" ? [] : null;
    const values = typed.split(",").map((one) => one.trim());
    if (values.every((one) => /^\d{1,9}$/.test(one) && Number(one) >= 1 && Number(one) <= max))
      return values.map(Number);
    const words = `whole numbers from 1 to ${max}, separated by commas`;
    throw usageError(`${flags} must be ${words}, not "${typed}".`, "Correct them, or give none or default.");
  };
  return { flags: [flags], help, required: false, read };
}

/** `--amount <amount>`: a plain decimal, kept as typed: its value depends on the currency. */
export function decimal(flags: string, help: string): Option<string | undefined> {
  const read = (given: unknown) => {
    const typed = asText(given);
    if (typed === undefined || /^\d{1,16}(\.\d+)?$/.test(typed)) return typed;
    throw usageError(`${flags} must be a plain decimal such as 1000.00, not "${typed}".`, "Correct the amount.");
  };
  return { flags: [flags], help, required: false, read };
}

/** `--per-day <amount>`: a plain decimal as `decimal` reads it, or `none`, which is null. */
export function decimalOrNone(flags: string, help: string): Option<string | null | undefined> {
  const amount = decimal(flags, help);
  return { ...amount, read: (given) => (given === "none" ? null : amount.read(given)) };
}

/** `--public-url <url>`: an absolute http(s) address without query and fragment. */
export function address(flags: string, help: string): Option<string | undefined> {
  const read = (given: unknown) => {
    const typed = asText(given);
    if (typed === undefined) return undefined;
    const url = URL.parse(typed);
    if (url !== null && /^https?:$/.test(url.protocol) && url.search === "" && url.hash === "") return typed;
    throw usageError(`${flags} must be an address such as https://api.example.com, not "${typed}".`, "Correct it.");
  };
  return { flags: [flags], help, required: false, read };
}

/** The same option, which must be given; a person at a terminal is asked for it. */
export function required<T>(option: Option<T | undefined>, ask: Ask = askOf(option)): Option<T> {
  const read = (given: unknown) => {
    const value = option.read(given);
    if (value !== undefined) return value;
    throw usageError(`${option.flags[0]} is required.`, "Add it.");
  };
  return { ...option, required: true, ask, read };
}

/** The same option, refused beside any of `others`, which are typed as `--name`. */
export function excluding<T>(option: Option<T>, ...others: readonly string[]): Option<T> {
  return { ...option, excludes: others };
}

function askOf({ choices }: Option<unknown>): Ask {
  return choices === undefined ? "line" : { oneOf: choices };
}

/** `--iccid <iccids...>`: any number of values, also with commas between; an empty list when not given. */
export function list(flags: string, help: string): Option<readonly string[]> {
  const read = (given: unknown) => {
    const typed = Array.isArray(given) ? given.filter((one) => typeof one === "string") : [];
    return typed.flatMap((one) => one.split(",")).flatMap((one) => (one.trim() === "" ? [] : [one.trim()]));
  };
  return { flags: [flags], help, required: false, read };
}

/** `--map "THEIRS=ours"`, any number of times: names and what each means; undefined when not given. */
export function pairs(flags: string, help: string): Option<ReadonlyMap<string, string> | undefined> {
  const read = (given: unknown) => {
    if (!Array.isArray(given)) return undefined;
    return new Map(given.map((one) => pairOf(flags, String(one))));
  };
  return { flags: [flags], help, required: false, repeats: true, read };
}

function pairOf(flags: string, typed: string): [string, string] {
  const at = typed.lastIndexOf("=");
  const pair: [string, string] = [typed.slice(0, Math.max(0, at)).trim(), typed.slice(at + 1).trim()];
  if (pair.every((part) => part !== "")) return pair;
  throw usageError(`${flags} must be NAME=name, not "${typed}".`, 'For example --map "DOB=date_of_birth".');
}

/** `--events <kinds>`: some of `words`, separated by commas or spaces. Unknown ones are left to the API to refuse. */
export function wordList(flags: string, words: readonly string[], help: string): Option<string[] | undefined> {
  const read = (given: unknown) =>
    asText(given)
      ?.split(/[\s,]+/)
      .filter((word) => word !== "");
  return { flags: [flags], help: `${help}: ${words.join(", ")}`, required: false, suggests: words, read };
}

/** A positional argument that must be given; a person at a terminal is asked for it. */
export function argument(name: string, help: string, ask: Ask = "line"): Argument<string> {
  return { syntax: `<${name}>`, help, ask, read: (given) => asText(given) ?? "" };
}

/** A positional argument that may be left out. */
export function optionalArgument(name: string, help: string): Argument<string | undefined> {
  return { syntax: `[${name}]`, help, read: asText };
}

/** Positional arguments, any number of them: `ids…`. */
export function argumentList(name: string, help: string): Argument<readonly string[]> {
  const read = (given: unknown) => (Array.isArray(given) ? given.filter((one) => typeof one === "string") : []);
  return { syntax: `[${name}...]`, help, read };
}

/** `<what...>`: words that mean one text, quoted or not. */
export function argumentWords(name: string, help: string, ask: Ask = "line"): Argument<string> {
  const read = (given: unknown) => (Array.isArray(given) ? given.join(" ") : (asText(given) ?? ""));
  return { syntax: `<${name}...>`, help, ask, read };
}

function asText(given: unknown): string | undefined {
  return typeof given === "string" ? given : undefined;
}
