import type { Store } from "./store.ts";

/** Why a database cannot be used at the moment. */
export type UnavailableReason = "unreachable" | "read_only" | "full" | "locked" | "slow" | "exhausted" | "closed";

interface StoreErrorKind {
  /** The key file is another database's. */
  wrongKey?: boolean;
  /** The database cannot be used at the moment. */
  reason?: UnavailableReason;
}

/** A store that cannot be opened or used: what happened, and what to do about it. */
export class StoreError extends Error {
  readonly hint: string;
  readonly wrongKey: boolean;
  readonly reason: UnavailableReason | null;
  /** For programs. */
  readonly code: "store" | "unavailable";

  constructor(message: string, hint: string, cause?: unknown, { wrongKey = false, reason }: StoreErrorKind = {}) {
    super(message, { cause });
    this.name = "StoreError";
    this.hint = hint;
    this.wrongKey = wrongKey;
    this.reason = reason ?? null;
    this.code = reason === undefined ? "store" : "unavailable";
  }
}

/**
 * A database that cannot be used at the moment; the same call may succeed later. The outcome of a write
 * whose commit got no response is unknown: it may have happened.
 */
export type StoreUnavailable = StoreError & { readonly reason: UnavailableReason };

/** Whether `error` says that the database cannot be used at the moment. */
export function isUnavailable(error: unknown): error is StoreUnavailable {
  return error instanceof StoreError && error.reason !== null;
}

/** An error and what caused it, outermost first: the query builder wraps the driver's errors. */
export function* causesOf(error: unknown): Generator<unknown> {
  for (let cause = error; cause !== undefined && cause !== null; ) {
    yield cause;
    cause = cause instanceof Error ? cause.cause : undefined;
  }
}

/** The same store; `onFault` is called with each `StoreUnavailable` that a read or write of it throws. */
export function reportingFaults(store: Store, onFault: (fault: StoreUnavailable) => void): Store {
  async function reporting<T>(outcome: Promise<T>): Promise<T> {
    try {
      return await outcome;
    } catch (error) {
      if (isUnavailable(error)) onFault(error);
      throw error;
    }
  }
  return {
    ...store,
    read: (query, input) => reporting(store.read(query, input)),
    list: (query, input) => reporting(store.list(query, input)),
    readOne: (query, input) => reporting(store.readOne(query, input)),
    write: (command, input, requestId, owner) => reporting(store.write(command, input, requestId, owner)),
    rehearse: (command, input) => reporting(store.rehearse(command, input)),
    epoch: () => reporting(store.epoch()),
  };
}

/** What a write of a closed store fails with. */
export function closedError(): StoreError {
  return new StoreError("The store was closed.", "The program ends: start it again.", undefined, { reason: "closed" });
}
