import { type ExitCode, exitCodes } from "./exit-codes.ts";

/** A failure in words: what happened (the message), what to do next (the hint), how the process ends. */
export class CliError extends Error {
  /** A stable name for programs: `error.code` of the JSON output. */
  readonly code: string;
  readonly hint: string;
  readonly exitCode: ExitCode;

  constructor(code: string, message: string, hint: string, exitCode: ExitCode = exitCodes.failed, cause?: unknown) {
    super(message, { cause });
    this.name = "CliError";
    this.code = code;
    this.hint = hint;
    this.exitCode = exitCode;
  }
}

/** The command was typed wrongly: exit code 2. */
export function usageError(message: string, hint: string): CliError {
  return new CliError("usage", message, hint, exitCodes.usage);
}

/** The person stopped it: exit code 130. */
export function interrupted(hint = "Run the same command again to go on."): CliError {
  return new CliError("interrupted", "Interrupted.", hint, exitCodes.interrupted);
}

/** The person was asked and said no: exit code 1, so that what was to follow does not. */
export function declined(): CliError {
  return new CliError("declined", "Nothing was changed.", "Answer y to go ahead, or add --yes.");
}
