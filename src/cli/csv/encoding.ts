import { isAscii } from "node:buffer";
import type { Encoding } from "iconv-lite";
import { CsvError } from "./error.ts";
import { findTextFault } from "./scan.ts";
import type { Source } from "./source.ts";

/**
 * The source as UTF-8, read from another encoding. Throws `csv_invalid` where it is not that encoding, or where it is
 * UTF-8 already: names would be spoiled without a fault.
 */
export async function decoded(source: Source, encoding: string): Promise<Source> {
  await refuseUtf8(source, encoding);
  return { ...source, chunks: (end) => recoded(source, encoding, end) };
}

/** Whether a name is one of UTF-8's. */
function isUtf8(encoding: string): boolean {
  return /^(utf-?8|unicode-1-1-utf-8)$/i.test(encoding.trim());
}

/** Whether files in this encoding can be read and written. Node's own decoder knows none of DOS and old Macs. */
export async function isKnownEncoding(encoding: string): Promise<boolean> {
  return isUtf8(encoding) || (await import("iconv-lite")).default.encodingExists(encoding);
}

/** Text as bytes of an encoding; undefined: UTF-8. What the encoding has no letter for becomes a question mark. */
export async function encoderOf(encoding: string | undefined): Promise<(text: string) => Buffer> {
  if (encoding === undefined || isUtf8(encoding)) return (text) => Buffer.from(text);
  const { default: iconv } = await import("iconv-lite");
  return (text) => iconv.encode(text, encoding as Encoding);
}

async function refuseUtf8(source: Source, encoding: string): Promise<void> {
  if (isUtf8(encoding)) return;
  let ascii = true;
  for await (const chunk of source.chunks()) ascii &&= isAscii(chunk);
  if (ascii || (await findTextFault(source.chunks())) !== null) return;
  throw new CsvError("csv_invalid", source.label, "this is UTF-8 already", "Leave --encoding out.");
}

async function* recoded(source: Source, encoding: string, end = Number.POSITIVE_INFINITY): AsyncGenerator<Buffer> {
  const decode = await decoderOf(encoding);
  let left = end;
  const next = (bytes: Buffer | null) => {
    try {
      return Buffer.from(decode(bytes));
    } catch (fault) {
      const hint = "Name the encoding that it was saved in, or save it as CSV UTF-8.";
      throw new CsvError("csv_invalid", source.label, `this is not ${encoding} text`, hint, {}, fault);
    }
  };
  for await (const chunk of source.chunks()) {
    const text = next(chunk).subarray(0, left);
    left -= text.length;
    yield text;
    if (left <= 0) return;
  }
  yield next(null).subarray(0, left);
}

/** Decodes bytes piece by piece; null ends them. Throws where they are no text of the encoding. */
async function decoderOf(encoding: string): Promise<(bytes: Buffer | null) => string> {
  if (isOfNode(encoding)) {
    const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: false });
    return (bytes) => (bytes === null ? decoder.decode() : decoder.decode(bytes, { stream: true }));
  }
  const { default: iconv } = await import("iconv-lite");
  const decoder = iconv.getDecoder(encoding as Encoding);
  return (bytes) => {
    const text = bytes === null ? (decoder.end() ?? "") : decoder.write(bytes);
    if (text.includes("\ufffd")) throw new Error("bytes that the encoding does not have");
    return text;
  };
}

function isOfNode(encoding: string): boolean {
  try {
    return new TextDecoder(encoding).encoding !== "";
  } catch {
    return false;
  }
}

/** The source without its first bytes. */
export function without(source: Source, first: number): Source {
  return { ...source, chunks: (end) => rest(source.chunks(end === undefined ? undefined : end + first), first) };
}

async function* rest(chunks: AsyncIterable<Buffer>, first: number): AsyncGenerator<Buffer> {
  let left = first;
  for await (const chunk of chunks) {
    const kept = chunk.subarray(left);
    left = Math.max(0, left - chunk.length);
    if (kept.length > 0) yield kept;
  }
}
