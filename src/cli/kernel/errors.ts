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

/** Wrong usage of a command: exit code 2. */
export function usageError(message: string, hint: string): CliError {
  return new CliError("usage", message, hint, exitCodes.usage);
}

/** Interrupted by the user: exit code 130. */
export function interrupted(hint = "Run the same command again to go on."): CliError {
  return new CliError("interrupted", "Interrupted.", hint, exitCodes.interrupted);
}

/** The user declined a confirmation: exit code 1, so that a shell script stops there. */
export function declined(): CliError {
  return new CliError("declined", "Nothing was changed.", "Answer y to go ahead, or add --yes.");
}
