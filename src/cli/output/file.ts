import { createWriteStream } from "node:fs";
import { open, rename, rm, stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { CliError } from "../kernel/errors.ts";

/** Text as it comes, piece by piece. */
export type Pieces = AsyncIterable<string | Buffer>;

/** Writes to stdout with backpressure. */
export async function writeToStdout(pieces: Pieces): Promise<void> {
  await pipeline(pieces, process.stdout, { end: false });
}

/** Writes a file atomically: it gets its name once it is complete. Devices and pipes are written directly. */
export async function writeFileWhole(path: string, pieces: Pieces): Promise<void> {
  const known = await stat(path).catch(() => null);
  if (known !== null && !known.isFile()) return pipeline(pieces, createWriteStream(path));
  const partial = `${path}.partial`;
  try {
    await pipeline(pieces, createWriteStream(partial));
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

/** Writes a file (0600) that must not exist yet. One that could not be completed is removed. */
export async function writeNewFile(path: string, pieces: Pieces): Promise<void> {
  const file = await open(path, "wx", 0o600).catch((error: unknown) => {
    throw isThere(error) ? new CliError("file_exists", `${path} is there already.`, "Choose another name.") : error;
  });
  try {
    await pipeline(pieces, file.createWriteStream({ flush: true }));
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

function isThere(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EEXIST";
}
