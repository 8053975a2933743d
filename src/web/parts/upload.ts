import { type ReadText, readText } from "../../core/csv/encoding.ts";
import { refusingUnread, SENT_FILE } from "../../core/csv/sent-file.ts";
import { invalid } from "../../core/kernel/problem.ts";
import { type Form, field } from "../session/visit.ts";

/** The form's field of a file. */
export const FILE_FIELD = "file";

/** Encodings that a file may be in where the recognized one is wrong. */
const encodings = [
  ["", "recognize it"],
  ["utf-8", "UTF-8"],
  ["windows-1252", "Windows, Western Europe"],
  ["windows-1250", "Windows, Central Europe"],
  ["windows-1251", "Windows, Cyrillic"],
  ["macintosh", "Mac OS Roman"],
  ["cp850", "DOS, Western Europe"],
] as const;

/** The field beside that of a file by which its encoding is named. */
export const encodingField = { name: "encoding", label: "Written in", options: encodings };

/**
 * The text of the file that a form sent, in the encoding that the form names, or that is recognized as `readText` does.
 * Throws `validation` where it is missing, large, or no text.
 */
export async function uploadedText(form: Form, mostKib: number): Promise<ReadText> {
  const file = form[FILE_FIELD];
  if (!Buffer.isBuffer(file) || file.length === 0) throw invalid({ [FILE_FIELD]: ["is required"] });
  if (file.length > mostKib * 1024) throw invalid({ [FILE_FIELD]: [`is larger than ${sizeWords(mostKib)}: split it`] });
  const named = encodings.find(([name]) => name === field(form, encodingField.name))?.[0] || undefined;
  return refusingUnread(readText(SENT_FILE, file, named));
}

function sizeWords(kib: number): string {
  return kib % 1024 === 0 ? `${kib / 1024} MiB` : `${kib} KiB`;
}

/** What a preview says of a file that is not UTF-8; null of one that is, or that was read before. */
export function encodingNote(encoding: string | null): string | null {
  if (encoding === null || encoding === "utf-8") return null;
  const [, words = encoding] = encodings.find(([name]) => name === encoding) ?? [];
  return `The file is read as ${words}. Should names look wrong, choose it again with another.`;
}
