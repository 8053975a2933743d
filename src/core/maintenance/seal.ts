import { createReadStream, createWriteStream, type ReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { StoreError } from "../store/problems.ts";
import { codeOf } from "../store/sealing/key-files.ts";

/** How a file in the age format begins. */
const FIRST_LINE = "age-encryption.org/v1\n";

/** Whether a file is sealed: in the format of age. One that cannot be read is not. */
export async function isSealed(file: string): Promise<boolean> {
  const handle = await open(file, "r").catch(() => null);
  if (handle === null) return false;
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(FIRST_LINE.length), 0, FIRST_LINE.length, 0);
    return buffer.toString("latin1", 0, bytesRead) === FIRST_LINE;
  } catch {
    return false;
  } finally {
    await handle.close();
  }
}

/**
 * Seals `from` with a passphrase (scrypt, ChaCha20-Poly1305) and writes it to `into` (0600), which must not be there.
 * The `age` program opens it too. Memory does not grow with the file.
 */
export async function sealFile(from: string, into: string, passphrase: string): Promise<void> {
  const { Encrypter } = await import("age-encryption");
  const encrypter = new Encrypter();
  encrypter.setPassphrase(passphrase);
  await write(await encrypter.encrypt(bytesOf(createReadStream(from))), into);
}

/** Writes what `from` seals to `into` (0600), which must not be there. Throws `StoreError` for a wrong passphrase. */
export async function openSealed(from: string, into: string, passphrase: string): Promise<void> {
  const { Decrypter } = await import("age-encryption");
  const decrypter = new Decrypter();
  decrypter.addPassphrase(passphrase);
  const source = createReadStream(from);
  try {
    const opened = await decrypter.decrypt(bytesOf(source)).catch((error: unknown) => {
      throw isNoMatch(error) ? wrongPassphrase(from, error) : error;
    });
    await write(opened, into);
  } catch (error) {
    // What the system says, such as that the disk is full, is passed on.
    if (error instanceof StoreError || codeOf(error) !== undefined) throw error;
    throw new StoreError(
      `${from} is damaged: it is not what was sealed.`,
      "Take another copy of it, or an older backup.",
      error,
    );
  } finally {
    source.destroy();
  }
}

function wrongPassphrase(file: string, error: unknown): StoreError {
  return new StoreError(`The passphrase does not open ${file}.`, "Give the one that it was sealed with.", error);
}

/** The library throws plain errors; this one says that the passphrase opens none of the file's recipients. */
function isNoMatch(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("no identity matched");
}

/** A file's bytes as the library takes them: Node's stream of the web and the one of its types differ in name alone. */
function bytesOf(file: ReadStream): ReadableStream<Uint8Array> {
  return Readable.toWeb(file) as unknown as ReadableStream<Uint8Array>;
}

async function write(stream: ReadableStream<Uint8Array>, into: string): Promise<void> {
  await pipeline(stream, createWriteStream(into, { flags: "wx", mode: 0o600, flush: true }));
}
