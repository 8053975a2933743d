/**
 * Inside a character class: C0 and C1 controls; marks, embeddings, overrides and isolates of direction; zero-width
 * characters; line and paragraph separators; the byte-order mark; tag characters. Whatever shows a text obeys them, or
 * shows another text than it was given.
 */
export const HIDDEN =
  "\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200b-\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ufeff\\u{e0000}-\\u{e007f}";

const RUNS = new RegExp(`[${HIDDEN}]+`, "gu");

/** `text` on one line, with a blank in place of hidden characters. */
export function withoutHidden(text: string): string {
  return text.replace(RUNS, " ");
}
