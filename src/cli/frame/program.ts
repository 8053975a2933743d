import { Command as Commander, type CommanderError, Option as CommanderOption } from "commander";
import type { ActsFor } from "../client/api.ts";
import { type CliError, usageError } from "../kernel/errors.ts";
import { type Globals, globalOptions, readGlobals } from "../kernel/globals.ts";
import type { Option } from "../kernel/input.ts";
import { isInteractive } from "../output/prompts.ts";
import { partnerOptions } from "../place/partner-options.ts";
import type { Command, Entry, Given, Noun, Tree, Works } from "./command.ts";
import { contradiction, noteTyped } from "./contradictions.ts";
import { missing, usageOf } from "./gaps.ts";
import { helpAfter } from "./help.ts";
import { readShape, shapeOptionsOf } from "./shapes.ts";

/** Runs a parsed command. */
export type Runner = (command: Command, given: Given, globals: Globals, actsFor: ActsFor) => Promise<void>;

/** Thrown when help was printed: nothing is left to do. */
export class HelpShown extends Error {}

/** The command line: every noun by name and summary; the command asked for is loaded while parsing. */
export function buildProgram(run: Runner, commands: Tree): Commander {
  const program = new Commander("esimctl")
    .description("Sell eSIMs and SIM cards through partners: one program, from catalog to activation.")
    .usage("<noun> <verb> [ids…] [options]")
    .helpCommand(false)
    .helpOption("-h, --help", "show help, with examples")
    .option("-v, --version", "show the version")
    .addOption(new CommanderOption("-V").hideHelp())
    .configureHelp({
      showGlobalOptions: true,
      subcommandTerm: (one) => one.name(),
      // Without the `help` verb that commander adds: it works, and needs no line beside --help.
      visibleCommands: ({ commands: [...all] }) => all,
    })
    .configureOutput({ outputError: () => undefined, writeErr: () => undefined })
    .exitOverride((error) => translate(program, error));
  for (const [flags, help] of globalOptions) program.option(flags, help);
  const typed = new Set<string>();
  noteTyped(program, typed);
  program.addHelpText("after", `\n${MARK_WORDS}`);
  program.addHelpText("after", "\nesimctl <noun> --help lists its verbs; every verb has examples in its own --help.");
  program.addHelpText("after", "At a terminal you are asked for what you leave out, unless you say --yes or --json.");
  program.addHelpText("after", "esimctl help --man prints the whole manual, for man(1).");
  for (const single of commands.singles) addStub(program, single, "Commands:");
  for (const noun of commands.nouns) addStub(program, { ...noun, works: markOfNoun(noun) }, "Nouns:");
  program.hook("preSubcommand", (_program, stub) => fill(stub, { ...commands, program, typed, run }));
  return program;
}

interface Frame {
  program: Commander;
  /** The long names of the options that were typed. */
  typed: Set<string>;
  run: Runner;
}

/** The marks before the summaries of lists: where each command works. */
const MARK_WORDS =
  "data: on the operator's data at hand. server: at a server. both: either. mixed: see its verbs. -: needs neither.";
const MARK_WIDTH = 8;

type Mark = Works | "mixed";

function markOfNoun({ verbs }: Noun): Mark {
  const [first, ...others] = new Set(verbs.map(({ works }) => works));
  return first === undefined || others.length > 0 ? "mixed" : first;
}

function addStub(
  parent: Commander,
  { name, summary, works }: Pick<Entry, "name" | "summary"> & { works: Mark },
  group: string,
): Commander {
  const listed = `${works.padEnd(MARK_WIDTH)}${summary}`;
  const stub = parent.command(name).summary(listed).description(summary).helpGroup(group);
  return stub.exitOverride((error) => translate(stub, error));
}

/** Gives the noun (or single command) that was asked for its verbs, options and action. */
async function fill(stub: Commander, { singles, nouns, ...frame }: Frame & Tree): Promise<void> {
  const single = singles.find((one) => one.name === stub.name());
  if (single !== undefined) return furnish(stub, await single.load(), frame);
  const noun = nouns.find((one) => one.name === stub.name());
  if (noun === undefined) return;
  stub.usage("<verb> [ids…] [options]");
  for (const verb of noun.verbs) addStub(stub, verb, "Verbs:");
  stub.hook("preSubcommand", async (_noun, named) => {
    const verb = noun.verbs.find((one) => one.name === named.name());
    if (verb !== undefined) furnish(named, await verb.load(), frame);
  });
  // The help of a noun is read for its verbs.
  stub.configureHelp({ ...stub.configureHelp(), showGlobalOptions: false });
  stub.addHelpText("after", `\n${MARK_WORDS}`);
  stub.addHelpText(
    "after",
    `\nEvery verb has examples in its own help; esimctl help options lists the options that all take.`,
  );
}

function furnish(stub: Commander, command: Command, { program, typed: names, run }: Frame): void {
  // To commander every argument is optional: missing ones may be prompted for.
  for (const { syntax, help } of command.args) stub.argument(syntax.replace(/^<(.*)>$/, "[$1]"), help);
  stub.usage(usageOf(command));
  // What is special comes first; what all commands take is one line of the help.
  stub.configureHelp({ ...stub.configureHelp(), showGlobalOptions: false });
  const own = command.options.map((option) => addOption(stub, option));
  const acts = command.target === "partner" || command.target === "catalog" ? partnerOptions : null;
  const partner = acts && addOption(stub, acts.partner, WHOSE);
  const sandbox = acts && addOption(stub, acts.sandbox, WHOSE);
  const shapeOptions = shapeOptionsOf(command);
  const shapes = shapeOptions.map((option) => addOption(stub, option, SHAPES));
  noteTyped(stub, names);
  stub.addHelpText("after", helpAfter(command, pathOf(stub)));
  stub.action(async () => {
    // A verb of two words without its second one: like a noun without its verb.
    if (command.args[0]?.literal !== undefined && stub.args.length === 0) showHelp(stub);
    const contradicts = contradiction([...command.options, ...shapeOptions], names);
    if (contradicts !== null) throw contradicts;
    const found = stub.opts();
    const given = (attribute: string | null) => (attribute === null ? undefined : found[attribute]);
    const actsFor = {
      partner: partnerOptions.partner.read(given(partner)),
      sandbox: partnerOptions.sandbox.read(given(sandbox)),
      sandboxOnly: command.sandboxOnly === true,
      optional: command.target === "catalog",
    };
    const typed = { args: stub.processedArgs, options: own.map(given) };
    const plain = readGlobals(program.opts(), process.env);
    const globals = { ...plain, shape: readShape(shapes.map(given)) };
    const lacking = isInteractive(globals) ? null : missing(command, typed, pathOf(stub));
    if (lacking !== null) throw lacking;
    await run(command, typed, globals, actsFor);
  });
}

const WHOSE = "Whose it is:";
const SHAPES = "Shapes of the output:";

/** Adds the option under all its flags; the answer is the name under which commander keeps its value. */
function addOption(stub: Commander, option: Option<unknown>, group?: string): string {
  const made = option.flags.map((flags) => {
    const one = new CommanderOption(flags, option.help);
    if (group !== undefined) one.helpGroup(group);
    if (option.repeats) one.argParser((value, before?: string[]) => [...(before ?? []), value]);
    return option.choices === undefined ? one : one.choices([...option.choices]);
  });
  for (const one of made) stub.addOption(one);
  return made[0]?.attributeName() ?? "";
}

function pathOf(stub: Commander): string {
  return stub.parent === null ? stub.name() : `${pathOf(stub.parent)} ${stub.name()}`;
}

/** Prints the help of a noun without a verb; to a program, which cannot choose one, it is a usage error. */
function showHelp(stub: Commander): never {
  const path = pathOf(stub);
  if (stub.optsWithGlobals().json === true) throw usageError(`${path} needs a verb.`, `See ${path} --help.`);
  stub.outputHelp();
  throw new HelpShown();
}

/** commander's error as a CliError: one line of what happened, one of what to do. */
function translate(stub: Commander, error: CommanderError): never {
  if (error.exitCode === 0) throw new HelpShown();
  const path = pathOf(stub);
  // What commander would print its help for: a noun, or nothing at all, and no verb.
  if (error.code === "commander.help") {
    if (stub.parent !== null) showHelp(stub);
    throw usageError(`${path} needs a noun.`, `See ${path} --help.`);
  }
  throw complaint(error.message, path);
}

function complaint(message: string, path: string): CliError {
  const [, words = message, suggestion] = /^(?:error: )?(.*?)(?:\n\((Did you mean .*)\))?$/s.exec(message) ?? [];
  const what = `${words.charAt(0).toUpperCase()}${words.slice(1)}`.replace(/\.?$/, ".");
  const help = `see ${path} --help.`;
  return usageError(what, suggestion === undefined ? `S${help.slice(1)}` : `${suggestion} Or ${help}`);
}
