import { createReadStream } from "node:fs";
import { type FileHandle, mkdtemp, open, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { CsvError, isSystemFault, printable, systemReason } from "../../core/csv/error.ts";

/** Small, so that the few hundred rows of a chunk are young garbage: with 64 kB a long run took 30 MB more. */
const CHUNK_BYTES = 16 * 1024;

/** The bytes of a file that can be read from the start more than once. */
export interface Source {
  /** As messages name it. */
  label: string;
  /** A pass over the bytes from the start up to, not including, `end`. */
  chunks(end?: number): AsyncGenerator<Buffer>;
  /** Throws `csv_changed` when the file is no longer the one that was opened. */
  assertUnchanged(): Promise<void>;
  close(): Promise<void>;
}

/** Options of opening a source. */
export interface SourceOptions {
  /** What `-` reads. */
  stdin?: Readable;
  /** Ends the wait for standard input. */
  signal?: AbortSignal | undefined;
  /** Most bytes that are kept of what can be read only once. */
  mostBytes?: number;
}

/** Several million rows; a device or a pipe without end must not fill the disk. */
const MOST_BYTES = 1024 * 1024 * 1024;

/**
 * Opens `path`; `-` is standard input. What can be read only once (standard input, a pipe) is kept in a temporary file
 * of mode 0600 until `close`, up to 1 GiB. Throws `csv_unreadable`.
 */
export async function openSource(path: string, options: SourceOptions = {}): Promise<Source> {
  const label = path === "-" ? "standard input" : printable(path);
  try {
    if (path === "-") return await spool(label, options.stdin ?? process.stdin, options);
    return await openPath(path, label, options);
  } catch (fault) {
    if (!isSystemFault(fault)) throw fault;
    throw new CsvError("csv_unreadable", label, systemReason(fault), "Check the path and its rights.", {}, fault);
  }
}

async function openPath(path: string, label: string, options: SourceOptions): Promise<Source> {
  const found = await stat(path);
  if (found.isDirectory()) {
    throw new CsvError("csv_unreadable", label, "this is a directory, not a file", "Name one file in it.");
  }
  if (!found.isFile()) return await spool(label, createReadStream(path), options);
  const handle = await open(path, "r");
  const before = await fingerprint(path);
  return {
    label,
    chunks: (end) => readChunks(handle, end),
    assertUnchanged: async () => {
      if ((await fingerprint(path)) !== before) throw changed(label);
    },
    close: () => handle.close(),
  };
}

function changed(label: string): CsvError {
  const hint = "Wait until nothing writes to it, then give the same command again; what is there counts as duplicate.";
  return new CsvError("csv_changed", label, "the file changed while it was being read", hint);
}

/** Which file is at `path` and when it was last written; null when there is none any more. */
async function fingerprint(path: string): Promise<string | null> {
  const found = await stat(path, { bigint: true }).catch(() => null);
  return found === null ? null : `${found.dev}:${found.ino}:${found.size}:${found.mtimeNs}`;
}

async function* readChunks(handle: FileHandle, end = Number.POSITIVE_INFINITY): AsyncGenerator<Buffer> {
  let position = 0;
  while (position < end) {
    const length = Math.min(CHUNK_BYTES, end - position);
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(length), 0, length, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

async function spool(
  label: string,
  input: Readable,
  { signal, mostBytes = MOST_BYTES }: SourceOptions,
): Promise<Source> {
  const { folder, handle } = await temporaryFile();
  const close = async () => {
    await handle.close();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    let size = 0;
    const keep = async (chunks: AsyncIterable<Buffer | string>) => {
      for await (const chunk of chunks) {
        size += Buffer.byteLength(chunk);
        if (size > mostBytes) throw tooLarge(label, mostBytes);
        await handle.appendFile(chunk);
      }
    };
    await pipeline(input, keep, signal === undefined ? {} : { signal });
  } catch (fault) {
    await close();
    throw fault;
  }
  return { label, chunks: (end) => readChunks(handle, end), assertUnchanged: async () => undefined, close };
}

/** A file of mode 0600 in a folder of its own. Its name is removed at once: then it is gone even after kill -9. */
async function temporaryFile(): Promise<{ folder: string; handle: FileHandle }> {
  const folder = await mkdtemp(join(tmpdir(), "esimctl-"));
  try {
    const handle = await open(join(folder, "input.csv"), "wx+", 0o600);
    // Where open files keep their name, closing it removes it.
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
    return { folder, handle };
  } catch (fault) {
    await rm(folder, { recursive: true, force: true });
    throw fault;
  }
}

function tooLarge(label: string, mostBytes: number): CsvError {
  const what = `more than ${Math.round(mostBytes / (1024 * 1024))} MiB came from it`;
  return new CsvError("csv_unreadable", label, what, "Save it as a file and name that: files of any size are read.");
}
