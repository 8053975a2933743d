import { type ExitCode, exitCodes } from "../kernel/exit-codes.ts";
import { failureOf } from "../kernel/failure.ts";
import type { Globals } from "../kernel/globals.ts";
import { clean, cleanJson, terminalText } from "./clean.ts";
import { endDocument } from "./listing.ts";
import { makeSheet } from "./make-sheet.ts";
import type { Result } from "./result.ts";
import { shaped } from "./shape.ts";
import type { Sheet } from "./sheet.ts";

/** Prints a result as text, as JSON or in the shape that was asked for, and returns the exit code. */
export async function printResult(result: Result, globals: Globals): Promise<ExitCode> {
  const out = await formed(result, globals);
  if (out !== "") process.stdout.write(`${out}\n`);
  if (result.note !== undefined && !globals.quiet)
    process.stderr.write(`${terminalText(result.note, { colors: false })}\n`);
  return result.exitCode ?? exitCodes.done;
}

async function formed(result: Result, globals: Globals): Promise<string> {
  const { shape, json } = globals;
  if (shape === null) return json ? cleanJson(result.json) : drawn(result, makeSheet(process.stdout, globals));
  if (!("csv" in shape)) return shaped(Object(result.json), shape);
  const { openCsv } = await import("./csv.ts");
  const { rows = [] } = result;
  const csv = openCsv(rows[0] ?? {}, shape.csv);
  return rows.length === 0 ? "" : `${csv.header}${csv.draw(rows)}`.trimEnd();
}

function drawn(result: Result, sheet: Sheet): string {
  return terminalText(result.text(sheet), { colors: sheet.paint.level > 0 });
}

/** Prints a failure and returns its exit code: two lines on stderr for people, one document on stdout for programs. */
export function printFailure(error: unknown, globals: Globals): ExitCode {
  const { code, message, hint, exitCode } = failureOf(error);
  if (globals.json) {
    const failure = { error: { code, message, hint } };
    process.stdout.write(endDocument(failure) ?? `${cleanJson(failure)}\n`);
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
