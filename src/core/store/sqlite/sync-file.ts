import { fdatasync } from "node:fs";
import { promisify } from "node:util";
import { StoreError } from "../problems.ts";

/** Brings what was written to a file to its disk, in a thread of Node's pool. */
export const syncFile: (descriptor: number) => Promise<void> = promisify(fdatasync);

/** After it nothing is written any more: it is unknown what the disk holds of what was committed. */
export function syncError(file: string, cause: unknown): StoreError {
  const code: unknown = cause instanceof Error ? Reflect.get(cause, "code") : undefined;
  const words = `The disk of the database ${file} failed to store what was written: ${String(code ?? cause)}.`;
  const hint = "Check the disk, then restart esimctl. What was confirmed before is stored.";
  return new StoreError(words, hint, cause, { reason: "unreachable" });
}
