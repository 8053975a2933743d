import { type ExitCode, exitCodes } from "../kernel/exit-codes.ts";
import { failureOf } from "../kernel/failure.ts";
import type { Globals } from "../kernel/globals.ts";
import { clean, cleanJson, terminalText } from "./clean.ts";
import type { Result } from "./result.ts";
import { makeSheet, type Sheet } from "./sheet.ts";

/** Prints a result as text or JSON and returns the exit code. */
export function printResult(result: Result, globals: Globals): ExitCode {
  const out = globals.json ? cleanJson(result.json) : drawn(result, makeSheet(process.stdout, globals));
  if (out !== "") process.stdout.write(`${out}\n`);
  if (result.note !== undefined && !globals.quiet)
    process.stderr.write(`${terminalText(result.note, { colors: false })}\n`);
  return result.exitCode ?? exitCodes.done;
}

function drawn(result: Result, sheet: Sheet): string {
  return terminalText(result.text(sheet), { colors: sheet.paint.level > 0 });
}

/** Prints a failure and returns its exit code: two lines on stderr for people, one document on stdout for programs. */
export function printFailure(error: unknown, globals: Globals): ExitCode {
  const { code, message, hint, exitCode } = failureOf(error);
  if (globals.json) {
    process.stdout.write(`${cleanJson({ error: { code, message, hint } })}\n`);
  } else if (code === "declined") {
    // The person declined: nothing went wrong.
    process.stderr.write(`${clean(message)}\n`);
    return exitCode;
  } else {
    const { paint } = makeSheet(process.stderr, globals);
    process.stderr.write(`${paint.red("error:")} ${clean(message)}\n${paint.dim("→")} ${clean(hint)}\n`);
  }
  if (globals.verbose) process.stderr.write(`${terminalText(stackOf(error), { colors: false })}\n`);
  return exitCode;
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? "" : `\ncaused by ${stackOf(error.cause)}`;
  return `${error.stack ?? error.message}${cause}`;
}
