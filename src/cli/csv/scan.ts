import { isUtf8 } from "node:buffer";

/** Bytes that are no text: how far into the file, and in words what is wrong and what to do. */
export interface TextFault {
  offset: number;
  what: string;
  hint: string;
}

const SAVE_AS_UTF8 = 'Save it as CSV in UTF-8 ("CSV UTF-8" in spreadsheet programs) and try again.';

const OTHER_ENCODING = `${SAVE_AS_UTF8.slice(0, -1)}, or add --encoding windows-1252 (or what it was saved in).`;

/**
 * Reads all bytes once and finds the first that cannot be part of a CSV file in UTF-8, or null. What people mistake for
 * a CSV file (a workbook, UTF-16) is named as such.
 */
export async function findTextFault(chunks: AsyncIterable<Buffer>): Promise<TextFault | null> {
  let offset = 0;
  let tail: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = Buffer.concat([tail, chunk]);
    const fault = faultIn(bytes);
    if (fault !== null) return { ...fault, offset: offset + fault.offset, ...(offset === 0 ? knownFormat(bytes) : {}) };
    const held = cutCharacter(bytes);
    tail = bytes.subarray(bytes.length - held);
    offset += bytes.length - held;
  }
  return tail.length === 0 ? null : { offset, what: "the file ends within a character", hint: SAVE_AS_UTF8 };
}

/** The first fault of a chunk that begins at a character's start. */
function faultIn(bytes: Buffer): TextFault | null {
  const nul = bytes.indexOf(0);
  const text = nul === -1 ? bytes : bytes.subarray(0, nul);
  if (!isText(text)) return { offset: firstBadByte(text), what: "this is not UTF-8 text", hint: OTHER_ENCODING };
  if (nul === -1) return null;
  return { offset: nul, what: "this is not text, it holds NUL bytes", hint: SAVE_AS_UTF8 };
}

/** UTF-8, but for a last character that may go on in the next chunk. */
function isText(bytes: Buffer): boolean {
  return isUtf8(bytes.subarray(0, bytes.length - cutCharacter(bytes)));
}

/** How many of the last bytes begin a character that is not complete (0 to 3). */
function cutCharacter(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0;
    if (byte < 0x80) return 0;
  }
  return 0;
}

/** Where `bytes` stop being UTF-8, by halving: what is cut before that is text. */
function firstBadByte(bytes: Buffer): number {
  let good = 0;
  let bad = bytes.length;
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (isText(bytes.subarray(0, middle))) good = middle;
    else bad = middle;
  }
  return good;
}

function knownFormat(bytes: Buffer): { what?: string; hint?: string } {
  const start = bytes.toString("latin1", 0, 4);
  if (start.startsWith("\xff\xfe") || start.startsWith("\xfe\xff")) {
    const encoding = start.startsWith("\xff") ? "utf-16le" : "utf-16be";
    return { what: "this is UTF-16, not UTF-8", hint: `Add --encoding ${encoding}, or save it as CSV in UTF-8.` };
  }
  if (start !== "PK\x03\x04") return {};
  return { what: "this is a workbook or an archive, not CSV", hint: `Open it where it was made. ${SAVE_AS_UTF8}` };
}
