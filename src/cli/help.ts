import type { Command, Stand } from "./command.ts";
import { type ExitCode, exitCodes, exitCodeWords } from "./exit-codes.ts";

const common: readonly ExitCode[] = [exitCodes.done, exitCodes.failed, exitCodes.usage, exitCodes.interrupted];

/** Where the caller may be refused for who it is. */
const signs: readonly Stand[] = ["partner", "catalog"];

const standWords = {
  operator: "Runs on the operator's host, on the data itself.",
  partner: "Acts for one partner: at a server whoever signed in; on data at hand --partner names it.",
  catalog: "All partners see the same, so on data at hand --partner may be left out.",
  process: null,
} as const;

/** What stands below the options in a command's help: where it runs, what it changes, JSON, examples, exit codes. */
export function helpAfter(command: Command, path: string): string {
  const program = path.split(" ")[0];
  const codes = [
    ...common,
    ...(signs.includes(command.stand) ? [exitCodes.notAuthorised] : []),
    ...(command.exits ?? []),
  ];
  const parts = [
    ["Effects:", [command.effects, standWords[command.stand]]],
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
