import { stripVTControlCharacters } from "node:util";

/*
 * C0 and C1 controls; marks, embeddings, overrides and isolates of direction; zero-width characters; line and paragraph
 * separators; the byte-order mark; tag characters. A terminal obeys them, or shows another text than it was given.
 */
const HIDDEN =
  "\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200b-\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ufeff\\u{e0000}-\\u{e007f}";
const RUNS = new RegExp(`[${HIDDEN}]+`, "gu");
const EACH = new RegExp(`[${HIDDEN}]`, "gu");

/** `text` on one line and without hidden characters: names and notes come from outside. */
export function clean(text: string): string {
  return stripVTControlCharacters(text).replace(RUNS, " ");
}

/** What colors a text, and nothing else. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: colors begin with one
const COLORS = /(\u001b\[[0-9;]*m)/u;

/**
 * A drawn text as the terminal gets it: its lines, and its colors if it has any, are kept. Whatever of it comes from
 * outside moves no cursor and turns no line around.
 */
export function terminalText(text: string, { colors }: { colors: boolean }): string {
  const lines = (part: string) => part.split("\n").map((line) => line.replace(RUNS, " "));
  if (!colors) return lines(stripVTControlCharacters(text)).join("\n");
  const parts = text.split(COLORS);
  return parts.map((part, at) => (at % 2 === 1 ? part : lines(part).join("\n"))).join("");
}

/** `value` as JSON in which every hidden character is escaped as \uXXXX: the same value, and harmless to a terminal. */
export function cleanJson(value: unknown, indent = 2): string {
  // Between tokens there are line breaks and blanks only; within strings JSON itself escapes C0.
  return JSON.stringify(value, null, indent).replace(EACH, (one) => (one === "\n" ? one : escaped(one)));
}

function escaped(character: string): string {
  return character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
}
