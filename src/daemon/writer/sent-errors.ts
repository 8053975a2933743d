import { Problem } from "../../core/kernel/problem.ts";
import { StoreError } from "../../core/store/problems.ts";
import { UnknownKeyError, UnreadableError } from "../../core/store/vault.ts";

/** Errors that are caught by their class. Others arrive as an `Error` with all that they say. */
const classes: readonly { prototype: object; name: string }[] = [Problem, StoreError, UnknownKeyError, UnreadableError];

/** An error on its way to another thread. */
export interface SentError {
  /** The name of its class where it is one of those. */
  kind: string | null;
  name: string;
  message: string;
  stack: string | undefined;
  /** What its class adds: plain data. */
  members: Record<string, unknown>;
  cause: SentError | undefined;
}

/** An error as it can be sent. What is thrown and is no error is sent as one that says so. */
export function sentError(error: unknown): SentError {
  if (!(error instanceof Error)) return sentError(new Error(String(error)));
  const { name, message, stack } = error;
  const kind = classes.find(({ prototype }) => Object.getPrototypeOf(error) === prototype)?.name ?? null;
  const members = Object.fromEntries(Object.entries(error).filter(([, value]) => canBeSent(value)));
  const cause = error.cause === undefined ? undefined : sentError(error.cause);
  return { kind, name, message, stack, members, cause };
}

function canBeSent(value: unknown): boolean {
  try {
    structuredClone(value);
    return true;
  } catch {
    return false;
  }
}

/** The error that was sent. */
export function arrivedError({ kind, name, message, stack, members, cause }: SentError): Error {
  const error = new Error(message, cause === undefined ? undefined : { cause: arrivedError(cause) });
  const known = classes.find((one) => one.name === kind);
  if (known !== undefined) Object.setPrototypeOf(error, known.prototype);
  // As the constructors of errors leave it: not among what is listed of one.
  for (const [key, value] of Object.entries({ name, stack })) {
    Object.defineProperty(error, key, { value, writable: true, configurable: true, enumerable: false });
  }
  return Object.assign(error, members);
}
