import { Problem, problems } from "../../core/kernel/problem.ts";
import { CliError, interrupted } from "./errors.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";

/** What a failed command reports, whatever was thrown. */
export interface Failure {
  code: string;
  message: string;
  hint: string;
  exitCode: ExitCode;
}

/** One line of what happened and one of what to do, for any error. */
export function failureOf(error: unknown): Failure {
  if (error instanceof CliError) return error;
  if (error instanceof Problem) return problemFailure(error.slug, error.message, error);
  if (isHinted(error)) {
    const { code = codeOf(error), message, hint } = error;
    return { code, message, hint, exitCode: exitCodes.failed };
  }
  if (error instanceof Error && error.name === "AbortError") return interrupted("Nothing was changed.");
  if (error instanceof Error && leftPrompts.includes(error.name)) return interrupted("Nothing was changed.");
  return systemFailure(error) ?? unexpected(error);
}

/** What @inquirer throws, by name, when Ctrl-C or Ctrl-D ends a prompt: its prompts package exports no classes. */
const leftPrompts: readonly string[] = ["ExitPromptError", "AbortPromptError"];

/** StoreError, ListenError, CsvError and similar errors carry their own hint. */
function isHinted(error: unknown): error is Error & { hint: string; code?: string } {
  return error instanceof Error && "hint" in error && typeof error.hint === "string";
}

/** Hints for the terminal where the API's own hint is for programs. */
const ownHints: Readonly<Record<string, string>> = {
  validation: "Correct what is named and try again.",
  not_found: "Check the name or id, the partner and the environment.",
  internal: "Run it again with --verbose to see more.",
  unauthorized: "Sign in again: esimctl login, or correct --client-id and --client-secret.",
  token_expired: "Run it again; if it stays, sign in again: esimctl login.",
  insufficient_scope: "Sign in with a credential that has this scope; the operator makes them.",
};

/** The commands that list records, by their kind. */
const lists: Readonly<Record<string, string>> = {
  activation: "activations list",
  credential: "credentials list",
  order: "orders list",
  partner: "partners list",
  price_list: "prices list",
  product: "products list",
  supplier: "suppliers list",
  webhook: "webhooks list",
};

/** The command that lists the records of the kind that was not found. */
function whereToLook(resource: unknown): string {
  const list = typeof resource === "string" ? lists[resource] : undefined;
  return list === undefined ? "" : ` What there is: esimctl ${list}`;
}

/** The statuses of authentication and authorization failures: 401 and 403. */
export function isForbidding(status: number): boolean {
  return status === 401 || status === 403;
}

/** What a problem carries beside its slug and detail. */
interface ProblemDetails {
  errors?: Record<string, string[]> | undefined;
  members?: Record<string, unknown> | undefined;
}

/** A refusal of the API or of core, by its slug. Validation names every field. */
export function problemFailure(slug: string, detail: string, { errors, members }: ProblemDetails = {}): Failure {
  const sentences = Object.entries(errors ?? {}).map(([field, words]) => `${field} ${words.join(" and ")}`);
  const known = Object.entries(problems).find(([name]) => name === slug)?.[1];
  const hint = ownHints[slug] ?? known?.hint ?? "Run it again with --verbose to see more.";
  return {
    code: slug,
    message: sentences.length > 1 ? `${sentences.join("; ")}.` : detail,
    hint: hint + (slug === "not_found" ? whereToLook(members?.resource) : ""),
    exitCode: known !== undefined && isForbidding(known.status) ? exitCodes.notAuthorized : exitCodes.failed,
  };
}

/** `store` for a StoreError: those without a code of their own go by their name. */
function codeOf(error: Error): string {
  return error.name.replace(/Error$/, "").toLowerCase();
}

const systemHints: Readonly<Record<string, string>> = {
  ENOENT: "Check the path; a directory must be there before a file in it is made.",
  EACCES: "Check the rights of the file or directory.",
  EPERM: "Check the rights of the file or directory.",
  EISDIR: "Name a file, not a directory.",
  ERR_FS_EISDIR: "Name a file, not a directory.",
  ENOTDIR: "Check the path: a part of it is a file.",
  ENOSPC: "Free some disk space and try again.",
  EROFS: "The file system is read-only; choose another place.",
  EADDRINUSE: "Stop what listens there, or choose another --port.",
  EADDRNOTAVAIL: "Choose an address of this machine as --host.",
  ECONNREFUSED: "Check the address, and that the server runs.",
};

function systemFailure(error: unknown): Failure | null {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return null;
  const hint = systemHints[error.code];
  return hint === undefined
    ? null
    : { code: error.code.toLowerCase(), message: systemWords(error, error.code), hint, exitCode: exitCodes.failed };
}

const systemReasons: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or directory",
  EACCES: "access is denied",
  EPERM: "access is denied",
  EISDIR: "this is a directory",
  ENOTDIR: "a part of the path is no directory",
  ENOSPC: "the disk is full",
  EROFS: "the file system is read-only",
};

/** The path and the reason, where both are known; else the system's message. */
function systemWords(error: Error, code: string): string {
  const path: unknown = Reflect.get(error, "path");
  const why = systemReasons[code];
  return typeof path === "string" && why !== undefined ? `${path}: ${why}.` : `${error.message}.`;
}

function unexpected(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  return {
    code: "internal",
    message: `Something unexpected happened: ${message.split("\n")[0]}`,
    hint: "Run it again with --verbose to see where.",
    exitCode: exitCodes.failed,
  };
}
