import { columnWords } from "../csv/header.ts";
import { type ExitCode, exitCodes, exitCodeWords } from "../kernel/exit-codes.ts";
import { globalOptions } from "../kernel/globals.ts";
import type { Command, Target } from "./command.ts";

const common: readonly ExitCode[] = [exitCodes.done, exitCodes.failed, exitCodes.usage, exitCodes.interrupted];

/** Targets whose commands may end with exit code 4. */
const signs: readonly Target[] = ["partner", "catalog"];

/** Where a command of each target runs, in words; null: its effects say it. */
export const targetWords = {
  operator: "Runs on the operator's host, on the data itself.",
  partner: "Acts for one partner: at a server the one that signed in; on local data --partner names it.",
  catalog: "All partners see the same, so on local data --partner may be left out.",
  process: null,
} as const;

/** What is below the options in a command's help: where it runs, what it changes, JSON, examples, exit codes. */
export function helpAfter(command: Command, path: string): string {
  const program = path.split(" ")[0];
  const codes = [
    ...common,
    ...(signs.includes(command.target) ? [exitCodes.notAuthorized] : []),
    ...(command.exits ?? []),
  ];
  const parts = [
    ["Options of every command:", [`${globalNames}: esimctl help options.`]],
    ["Effects:", [command.effects, targetWords[command.target]]],
    ["Columns:", [command.csv === undefined ? null : columnWords(command.csv)]],
    ["JSON:", [command.json ?? null]],
    ["Examples:", command.examples.map((line) => `$ ${program} ${line}`)],
    [
      "Exit codes:",
      [
        codes
          .sort((a, b) => a - b)
          .map((code) => `${code} ${exitCodeWords[code]}`)
          .join(", "),
      ],
    ],
  ] as const;
  return parts
    .map(([title, lines]) => [title, lines.filter((line) => line !== null)] as const)
    .filter(([, lines]) => lines.length > 0)
    .map(([title, lines]) => `\n${title}\n${lines.map((line) => `  ${line}`).join("\n")}`)
    .join("\n");
}

const globalNames = globalOptions.map(([flags]) => flags.split(" ")[0]).join(", ");

/** What `esimctl help options` prints: the options that every command takes. */
export function optionsHelp(): string {
  const width = Math.max(...globalOptions.map(([flags]) => flags.length)) + 2;
  const lines = globalOptions.map(([flags, help]) => `  ${flags.padEnd(width)}${help}`);
  return `Every command takes these, before or after its name:\n\n${lines.join("\n")}\n`;
}
