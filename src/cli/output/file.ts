import { createWriteStream } from "node:fs";
import { rename, rm, stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";

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
