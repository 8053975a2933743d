import { hash } from "node:crypto";

/** Rows of a file that share a key which only one of them may have. */
export interface Clashes<R> {
  /** Takes a row into account; all rows first, before anything is asked. */
  see(row: R): void;
  /** The lines of rows that share this row's key, this one included; null: it has the key alone. */
  linesOf(row: R): readonly number[] | null;
}

/** Lines that a sentence names. */
const NAMED = 5;

/**
 * Finds rows that share a key. `keyOf` answers null for a row without one. With `contentOf` rows of one key that say
 * the same are no clash. Only the key and the first line of each row are held.
 */
export function findClashes<R extends { line: number }>(
  keyOf: (row: R) => string | null,
  contentOf?: (row: R) => string,
): Clashes<R> {
  const first = new Map<string, { line: number; content: string }>();
  const clashes = new Map<string, number[]>();
  return {
    see(row) {
      const key = keyOf(row);
      if (key === null) return;
      const content = contentOf === undefined ? "" : hash("sha1", contentOf(row), "base64url");
      const known = first.get(key);
      if (known === undefined) {
        first.set(key, { line: row.line, content });
      } else if (contentOf === undefined || known.content !== content) {
        const lines = clashes.get(key);
        if (lines === undefined) clashes.set(key, [known.line, row.line]);
        else if (lines.length < NAMED) lines.push(row.line);
      }
    },
    linesOf(row) {
      const key = keyOf(row);
      return key === null ? null : (clashes.get(key) ?? null);
    },
  };
}

/** "lines 2 and 5", or items instead of lines. */
export function linesWords(lines: readonly number[], what: "lines" | "items" = "lines"): string {
  const more = lines.length >= NAMED ? " and more" : "";
  return `${what} ${lines.slice(0, -1).join(", ")}${more === "" ? " and" : ","} ${lines.at(-1)}${more}`;
}
