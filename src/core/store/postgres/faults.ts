import pg from "pg";
import { causesOf, StoreError, type UnavailableReason } from "../problems.ts";

/** What the server, or the way there, is the cause of. */
type Reason = Exclude<UnavailableReason, "closed">;

// SQLSTATE codes, or their classes (the first two characters).
const REASONS: Readonly<Record<string, Reason>> = {
  "08": "unreachable", // connection exception
  "28": "unreachable", // invalid authorization
  "3D000": "unreachable", // no such database
  "25006": "read_only",
  "25P03": "unreachable", // idle in transaction timeout: the session ended
  "40P01": "locked", // deadlock detected
  "53100": "full",
  "53200": "unreachable", // out of memory
  "53300": "exhausted", // too many connections
  "55P03": "locked",
  "57014": "slow", // statement timeout, or canceled by an administrator
  "57P01": "unreachable", // administrator shutdown
  "57P02": "unreachable", // crash shutdown
  "57P03": "unreachable", // cannot connect now
  "57P04": "unreachable", // database dropped
  "57P05": "unreachable", // idle session timeout: the session ended
  "58030": "unreachable", // I/O error
};

const WORDS: Readonly<Record<Exclude<Reason, "unreachable">, readonly [string, string]>> = {
  read_only: [
    "The PostgreSQL database is read-only.",
    "Name the primary server with --database, or end the read-only mode.",
  ],
  full: ["The PostgreSQL server has no disk space left.", "Free disk space on the server."],
  locked: [
    "The PostgreSQL database is locked by another session.",
    "Try again later, or end the session that holds the lock.",
  ],
  exhausted: [
    "The PostgreSQL server has no connection left.",
    "Lower serve --database-connections of the nodes, or raise max_connections of the server.",
  ],
  slow: [
    "The PostgreSQL database did not finish a statement in time.",
    "Try again later; look for load on the server, or set statement_timeout (ms) in the --database address.",
  ],
};

/** All `max` connections of this process were in use for as long as a connection is waited for. */
export function exhausted(max: number, cause: unknown): StoreError {
  return new StoreError(
    `All ${max} connections of this process to PostgreSQL are in use.`,
    "Try again later; allow more with serve --database-connections.",
    cause,
    { reason: "exhausted" },
  );
}

/** A connection that cannot be had, or was lost. */
export function unreachable(error: unknown): StoreError {
  return new StoreError(
    `The PostgreSQL database cannot be reached: ${textOf(error)}.`,
    "Check the --database address, and that the server runs and accepts this user.",
    error,
    { reason: "unreachable" },
  );
}

/** A driver's error as `StoreUnavailable` where it is one; any other as it is. `lost`: its connection broke. */
export function faultOf(error: unknown, lost: boolean): unknown {
  if (error instanceof StoreError) return error;
  for (const cause of causesOf(error)) {
    const reason = reasonOf(cause);
    if (reason === undefined) continue;
    return reason === "unreachable" ? unreachable(cause) : new StoreError(...WORDS[reason], cause, { reason });
  }
  return lost ? unreachable([...causesOf(error)].at(-1)) : error;
}

/** Any fault of the driver as a `StoreError`. */
export function asStoreError(error: unknown): unknown {
  const fault = faultOf(error, false);
  if (fault instanceof StoreError) return fault;
  return new StoreError(
    `The PostgreSQL database cannot be used: ${textOf(error)}.`,
    "Check the --database address, that the server runs, and that this user may create tables there.",
    error,
  );
}

function reasonOf(error: unknown): Reason | undefined {
  if (error instanceof pg.DatabaseError) {
    const { code = "" } = error;
    return REASONS[code] ?? REASONS[code.slice(0, 2)];
  }
  // A system call on the socket failed, or the look-up of the host.
  return error instanceof Error && "syscall" in error ? "unreachable" : undefined;
}

/** The words of an error. */
export function textOf(error: unknown): string {
  // Several addresses were tried: the error itself has no text.
  if (error instanceof AggregateError && error.message === "") return textOf(error.errors[0]);
  return error instanceof Error ? error.message || String(error) : String(error);
}
