import packageFile from "../../package.json" with { type: "json" };
import { withFieldNames } from "../core/kernel/renamed-fields.ts";
import type { Command, Tree } from "./frame/command.ts";
import { createContext } from "./frame/create-context.ts";
import { askForMissing, asMissing } from "./frame/gaps.ts";
import { buildProgram, HelpShown } from "./frame/program.ts";
import { interrupted } from "./kernel/errors.ts";
import { type ExitCode, exitCodes } from "./kernel/exit-codes.ts";
import { type Globals, guessGlobals } from "./kernel/globals.ts";
import { onSecondSignal } from "./kernel/signals.ts";
import { nouns } from "./nouns.ts";
import { takeEnvironment } from "./place/given-keys.ts";
import { singles } from "./singles.ts";

/** Understands a command line, runs the command it names, prints its result or failure; the answer is the exit code. */
export async function run(argv: readonly string[], commands = singles): Promise<ExitCode> {
  let exitCode: ExitCode = exitCodes.done;
  const env = takeEnvironment();
  const tree = { singles: commands, nouns };
  const line = asked(argv, tree);
  const program = buildProgram(
    async (command, given, globals, actsFor) => {
      const interruption = listenForInterrupts(command, globals);
      const context = createContext(globals, {
        actsFor,
        interruption,
        atHand: command.target === "process",
        tree,
        env,
      });
      // Before it asks or reads anything: there is no use in that at the wrong place.
      if (command.target === "operator") await context.place();
      const filled = await askForMissing(context, command, given);
      const result = await command.run(context, filled).catch((error: unknown) => {
        throw withFieldNames(asMissing(error, command, filled), command.fields ?? {});
      });
      if (result === null) return;
      const { printResult } = await import("./output/print.ts");
      exitCode = await printResult(result, globals);
    },
    namedBy(line, tree),
  );
  const showVersion = () => {
    process.stdout.write(`${packageFile.version}\n`);
    throw new HelpShown();
  };
  program.on("option:version", showVersion).on("option:V", showVersion);
  try {
    if (argv[0] === "help" && argv[1] === "--man") {
      const { manPage } = await import("./frame/man-page.ts");
      process.stdout.write(await manPage(tree, packageFile.version));
      return exitCodes.done;
    }
    if (argv[0] === "help" && argv[1] === "options") {
      const { optionsHelp } = await import("./frame/help.ts");
      process.stdout.write(optionsHelp());
      return exitCodes.done;
    }
    await program.parseAsync(line, { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof HelpShown) return exitCodes.done;
    const { printFailure } = await import("./output/print.ts");
    return printFailure(error, guessGlobals(argv, process.env));
  }
}

/** `help orders create` is `orders create --help`; nothing at all asks for help; --sort_by is --sort-by. */
function asked(argv: readonly string[], tree: Tree): string[] {
  if (argv.length === 0) return ["--help"];
  // Help of what is unknown would be that of all: without --help it is an unknown command, as without help.
  if (argv[0] === "help") return isKnown(argv.slice(1), tree) ? [...argv.slice(1), "--help"] : argv.slice(1);
  const end = argv.indexOf("--");
  return argv.map((word, at) => (end !== -1 && at >= end ? word : hyphened(word)));
}

/** Whether a line that begins with a command names one that there is, or none. */
function isKnown([first = "-", second = "-"]: readonly string[], { nouns, singles }: Tree): boolean {
  if (first.startsWith("-") || singles.some(({ name }) => name === first)) return true;
  const noun = nouns.find(({ name }) => name === first);
  return noun !== undefined && (second.startsWith("-") || noun.verbs.some(({ name }) => name === second));
}

/** As much of the tree as a line can reach that begins with a command: to make them all takes a tenth of its time. */
function namedBy([first, second]: readonly string[], tree: Tree): Tree {
  const noun = tree.nouns.find(({ name }) => name === first);
  if (noun !== undefined) {
    const verb = noun.verbs.find(({ name }) => name === second);
    return { singles: [], nouns: [verb === undefined ? noun : { ...noun, verbs: [verb] }] };
  }
  const single = tree.singles.find(({ name }) => name === first);
  return single === undefined ? tree : { singles: [single], nouns: [] };
}

/** Options of lists are named as the API's query parameters: underscores and hyphens mean the same. */
function hyphened(word: string): string {
  const [, name, rest = ""] = /^--([a-z]+(?:_[a-z]+)+)(=.*)?$/s.exec(word) ?? [];
  return name === undefined ? word : `--${name.replaceAll("_", "-")}${rest}`;
}

const LOOK_FIRST = "Check whether it changed anything before you run it again.";

/** Ctrl-C: a command in batches ends after the one under way, others at once; the second time everything does. */
function listenForInterrupts(command: Command, globals: Globals): AbortSignal {
  const abort = new AbortController();
  if (command.stays) return abort.signal;
  const end = async () => {
    const { printFailure } = await import("./output/print.ts");
    // Below the ^C that the terminal echoed, and whatever was being counted down.
    if (process.stderr.isTTY) process.stderr.write("\n");
    process.exit(printFailure(command.batches ? interrupted() : interrupted(LOOK_FIRST), globals));
  };
  process.once("SIGINT", () => {
    if (!command.batches) return end();
    onSecondSignal(["SIGINT"], end);
    abort.abort();
  });
  return abort.signal;
}
