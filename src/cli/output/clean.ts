import { stripVTControlCharacters } from "node:util";
import { HIDDEN, withoutHidden } from "../../core/kernel/hidden-characters.ts";

const EACH = new RegExp(`[${HIDDEN}]`, "gu");

/** `text` on one line and without hidden characters: names and notes come from outside. */
export function clean(text: string): string {
  return withoutHidden(stripVTControlCharacters(text));
}

/** What colors a text, and nothing else. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: colors begin with one
const COLORS = /(\u001b\[[0-9;]*m)/u;

/**
 * A drawn text as the terminal gets it: its lines, and its colors if it has any, are kept. Whatever of it comes from
 * outside moves no cursor and turns no line around.
 */
export function terminalText(text: string, { colors }: { colors: boolean }): string {
  const lines = (part: string) => part.split("\n").map(withoutHidden);
  if (!colors) return lines(stripVTControlCharacters(text)).join("\n");
  const parts = text.split(COLORS);
  return parts.map((part, at) => (at % 2 === 1 ? part : lines(part).join("\n"))).join("");
}

/** A text with its lines and tabs, and without whatever else a terminal obeys. */
export function tabbedText(text: string): string {
  const parts = text.split("\t").map((part) => terminalText(part, { colors: false }));
  return parts.join("\t");
}

/** `value` as JSON in which every hidden character is escaped as \uXXXX: the same value, and harmless to a terminal. */
export function cleanJson(value: unknown, indent = 2): string {
  return escapeHidden(JSON.stringify(value, null, indent));
}

/** A text of JSON in which every hidden character is escaped as \uXXXX. */
export function escapeHidden(json: string): string {
  // Between tokens there are line breaks and blanks only; within strings JSON itself escapes C0.
  return json.replace(EACH, (one) => (one === "\n" ? one : escaped(one)));
}

function escaped(character: string): string {
  return character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
}
