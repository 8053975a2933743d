import { isUtf8 } from "node:buffer";
import type { Encoding } from "iconv-lite";
import { CsvError } from "./error.ts";

/** Whether a name is one of UTF-8's. */
export function isUtf8Name(encoding: string): boolean {
  return /^(utf-?8|unicode-1-1-utf-8)$/i.test(encoding.trim());
}

/** Whether files in this encoding can be read and written. Node's own decoder knows none of DOS and old Macs. */
export async function isKnownEncoding(encoding: string): Promise<boolean> {
  return isUtf8Name(encoding) || (await import("iconv-lite")).default.encodingExists(encoding);
}

/** Text as bytes of an encoding; undefined: UTF-8. What the encoding has no letter for becomes a question mark. */
export async function encoderOf(encoding: string | undefined): Promise<(text: string) => Buffer> {
  if (encoding === undefined || isUtf8Name(encoding)) return (text) => Buffer.from(text);
  const { default: iconv } = await import("iconv-lite");
  return (text) => iconv.encode(text, encoding as Encoding);
}

/** Decodes bytes piece by piece; null ends them. Throws where they are no text of the encoding. */
export async function decoderOf(encoding: string): Promise<(bytes: Buffer | null) => string> {
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

/** A small file as text, and the encoding that it was read in. */
export interface ReadText {
  text: string;
  encoding: string;
}

const NO_TEXT = 'Save it as CSV in UTF-8 ("CSV UTF-8" in spreadsheet programs) and send it again.';

/**
 * Reads a small file whose encoding is recognized unless it is named: UTF-8, UTF-16 by its mark, otherwise
 * windows-1252, as spreadsheets of Western Europe write it. Throws `csv_invalid` for what is no text, or none of the
 * encoding.
 */
export async function readText(label: string, bytes: Buffer, named?: string): Promise<ReadText> {
  if (bytes.toString("latin1", 0, 4) === "PK\x03\x04") {
    throw new CsvError("csv_invalid", label, "this is a workbook or an archive, not CSV", NO_TEXT);
  }
  const encoding = named ?? recognized(bytes);
  let text: string;
  try {
    const decode = await decoderOf(encoding);
    text = decode(bytes) + decode(null);
  } catch (fault) {
    throw new CsvError("csv_invalid", label, `this is not ${encoding} text`, "Choose another encoding.", {}, fault);
  }
  if (text.includes("\0")) throw new CsvError("csv_invalid", label, "this is not text, it holds NUL bytes", NO_TEXT);
  return { text: text.replace(/^\ufeff/, ""), encoding };
}

function recognized(bytes: Buffer): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  return isUtf8(bytes) ? "utf-8" : "windows-1252";
}
