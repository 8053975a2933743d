import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { StoreError } from "./problems.ts";

const NOTE = "moved-to.txt";

/** Notes in a data directory where its data is now, so that nothing goes on here beside it by mistake. */
export function noteMove(directory: string, to: string): void {
  writeFileSync(join(directory, NOTE), `${to}\n`, { mode: 0o600, flush: true });
}

/** Throws `StoreError` when the directory's data went on elsewhere. */
export function refuseMoved(directory: string): void {
  const file = join(directory, NOTE);
  if (!existsSync(file)) return;
  throw new StoreError(
    `The data of ${directory} moved to ${readFileSync(file, "utf8").trim()}.`,
    `Name that with --database and --key-file. To go back to what is here, and lose what came since, delete ${file}.`,
  );
}

/** What is put into the directory from now on is its own again. */
export function forgetMove(directory: string): void {
  rmSync(join(directory, NOTE), { force: true });
}
