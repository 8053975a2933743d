import { isAscii } from "node:buffer";
import { decoderOf, isUtf8Name } from "../../core/csv/encoding.ts";
import { CsvError } from "../../core/csv/error.ts";
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

async function refuseUtf8(source: Source, encoding: string): Promise<void> {
  if (isUtf8Name(encoding)) return;
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
