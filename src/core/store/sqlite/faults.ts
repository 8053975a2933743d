import Database from "better-sqlite3";
import { causesOf, StoreError } from "../problems.ts";

/** What to do about a damaged file. */
export const RESTORE = "Restore a backup into an empty directory, or move the damaged file away and start again.";

/** Whether another connection holds a lock that was needed. */
export function isBusy(error: unknown): boolean {
  return error instanceof Database.SqliteError && error.code.startsWith("SQLITE_BUSY");
}

/** A driver's error as `StoreUnavailable` where it is one; any other as it is. */
export function faultOf(error: unknown, file: string): unknown {
  if (error instanceof StoreError) return error;
  for (const cause of causesOf(error)) {
    const fault = cause instanceof Database.SqliteError ? unavailable(cause, file) : undefined;
    if (fault !== undefined) return fault;
  }
  return error;
}

function unavailable(error: InstanceType<typeof Database.SqliteError>, file: string): StoreError | undefined {
  const { code } = error;
  if (isBusy(error) || code === "SQLITE_PROTOCOL") {
    const words = `The database ${file} is locked by another process.`;
    return new StoreError(words, "Wait for it or stop it.", error, { reason: "locked" });
  }
  if (code === "SQLITE_FULL") {
    const words = `The disk of the database ${file} is full.`;
    return new StoreError(words, "Free disk space there.", error, { reason: "full" });
  }
  if (code.startsWith("SQLITE_READONLY") || code === "SQLITE_PERM") {
    const words = `Cannot write to the database ${file}.`;
    return new StoreError(words, "Check the file's owner and rights.", error, { reason: "read_only" });
  }
  if (code.startsWith("SQLITE_CANTOPEN")) {
    const words = `Cannot open the database ${file}.`;
    return new StoreError(
      words,
      "Check that it exists, that you may write there, and that the disk is not read-only.",
      error,
      {
        reason: "unreachable",
      },
    );
  }
  if (code.startsWith("SQLITE_IOERR")) {
    const words = `The database ${file} cannot be read or written: ${error.message}.`;
    return new StoreError(words, "Check the disk: its free space, quotas and errors.", error, {
      reason: "unreachable",
    });
  }
  return undefined;
}

/** A fault of the driver or the file system as a `StoreError`; anything else as it is. */
export function asStoreError(error: unknown, file: string): unknown {
  const fault = faultOf(error, file);
  if (fault instanceof StoreError) return fault;
  if (!(error instanceof Database.SqliteError)) {
    const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined;
    if (typeof code !== "string") return error;
    return new StoreError(
      `Cannot write the database ${file}: ${code}.`,
      "Check the directory's owner and rights.",
      error,
    );
  }
  if (error.code === "SQLITE_NOTADB" || error.code.startsWith("SQLITE_CORRUPT")) {
    return new StoreError(`The database ${file} is damaged or not a database.`, RESTORE, error);
  }
  return new StoreError(`The database ${file} cannot be used: ${error.message}.`, "Check disk and file rights.", error);
}
