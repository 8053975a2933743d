import { type FileHandle, open, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { makeDirectory } from "../../core/platform/make-directory.ts";

/** Files kept: the one written to and those before it. */
const KEPT = 5;

/** The files of a log, the one written to first, then from new to old. */
export function logFiles(folder: string): string[] {
  return Array.from({ length: KEPT }, (_, age) => join(folder, age === 0 ? "serve.log" : `serve.${age}.log`));
}

/** The file that is written to now. */
export interface RotatingFile {
  current(): Promise<FileHandle>;
  close(): Promise<void>;
}

/** The first of `logFiles` in `folder`, which is put aside when it has `maxBytes`. */
export function rotatingFile(folder: string, maxBytes: number): RotatingFile {
  const [path = ""] = logFiles(folder);
  let opened: { handle: FileHandle; inode: number } | null = null;

  async function close(): Promise<void> {
    await opened?.handle.close();
    opened = null;
  }

  return {
    /** Opens it again when it is full, or when it was moved or removed. */
    async current() {
      const there = await stat(path).catch(() => null);
      const full = there !== null && there.size >= maxBytes;
      if (opened !== null && there?.ino === opened.inode && !full) return opened.handle;
      await close();
      makeDirectory(folder);
      if (full) await putAside(folder);
      const handle = await open(path, "a", 0o600);
      opened = { handle, inode: (await handle.stat()).ino };
      return handle;
    },
    close,
  };
}

/** The oldest goes, each other one becomes a file older. */
async function putAside(folder: string): Promise<void> {
  const files = logFiles(folder);
  await rm(files.at(-1) ?? "", { force: true });
  for (let age = files.length - 2; age >= 0; age--) {
    // Another daemon on the same database may do the same right now, and some of them are not there yet.
    await rename(files[age] ?? "", files[age + 1] ?? "").catch(unlessAbsent);
  }
}

function unlessAbsent(error: unknown): void {
  if (reason(error) !== "ENOENT") throw error;
}

/** Why a file could not be written: the code of the system, or the error in words. */
export function reason(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
