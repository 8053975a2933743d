import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";
import { CliError } from "./errors.ts";

const MIB = 1024 * 1024;

/**
 * The text of a file, a pipe or a device of at most `mebibytes`. Throws `too_large` for more, without reading on, and
 * whatever the system says. `source` is read in place of the file, which then only names it.
 */
export async function readBounded(
  file: string,
  mebibytes: number,
  hint: string,
  source: Readable = createReadStream(file),
): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of source) {
    size += chunk.length;
    if (size > mebibytes * MIB) throw new CliError("too_large", `${file} holds more than ${mebibytes} MiB.`, hint);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
