import { withoutHidden } from "../../core/kernel/hidden-characters.ts";

/**
 * What DejaVu Sans has not, or PDFKit does not draw as it is meant: all but Latin, Greek and Cyrillic letters, and
 * signs. Words that are written from right to left would come out in the wrong order.
 */
const OTHERS = new RegExp(
  "[^" +
    "\\x20-\\x7e\\xa0-\\u02af\\u0370-\\u03ff\\u0400-\\u0525\\u1e00-\\u1efb\\u1f00-\\u1fff" +
    "\\u2010-\\u2027\\u2030-\\u205e\\u20a0-\\u20b5]|\\P{Assigned}",
  "gu",
);

/** A text as a PDF can show it: `\u{5317}` in place of each character that the font has not. */
export function drawable(text: string): string {
  return withoutHidden(text)
    .normalize("NFC")
    .replace(OTHERS, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
