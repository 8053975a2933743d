import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { open, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { CliError } from "../kernel/errors.ts";
import { isDescriptor } from "../kernel/streams.ts";

/** Text as it comes, piece by piece. */
export type Pieces = AsyncIterable<string | Buffer>;

/** Writes to stdout with backpressure. */
export async function writeToStdout(pieces: Pieces): Promise<void> {
  await pipeline(pieces, process.stdout, { end: false });
}

/**
 * Writes a file (0600) atomically: it gets its name once it is complete, in place of the file or link of that name. No
 * link is followed, so that a file in a folder of others cannot be exchanged for another one. Devices and pipes are
 * written directly.
 */
export async function writeFileWhole(path: string, pieces: Pieces): Promise<void> {
  // /dev/stdout is a link, and may lead to a file.
  if (await isDescriptor(path)) return writeTo(path, constants.O_WRONLY, pieces);
  const known = await stat(path).catch(() => null);
  if (known !== null && !known.isFile()) return writeTo(path, constants.O_WRONLY | constants.O_NOFOLLOW, pieces);
  const partial = join(dirname(path), `.${randomUUID()}.partial`);
  try {
    await writeTo(partial, "wx", pieces);
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

async function writeTo(path: string, flags: string | number, pieces: Pieces): Promise<void> {
  const file = await open(path, flags, 0o600);
  await pipeline(pieces, file.createWriteStream());
}

/** A text as one piece. */
export async function* piecesOf(whole: string): Pieces {
  yield whole;
}
