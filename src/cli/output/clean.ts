import { stripVTControlCharacters } from "node:util";

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it takes out
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]+/g;

/** `text` on one line and without control characters: names and notes come from outside. */
export function clean(text: string): string {
  return stripVTControlCharacters(text).replace(CONTROL, " ");
}
