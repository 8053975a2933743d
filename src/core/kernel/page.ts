import { createHash } from "node:crypto";
import { Problem } from "./problem.ts";

/** The last record of a page: its sort key and its id, in list order (contract: Pagination rule). */
export interface Position {
  key: string | number;
  id: string;
}

/** One page of a keyset-paginated list. */
export interface Page<T> {
  data: T[];
  next: Position | null;
}

/** Cuts the one row too many that a list query asks for, and says where the next page starts. */
export function toPage<T>(rows: T[], limit: number, position: (row: T) => Position): Page<T> {
  const data = rows.slice(0, limit);
  const last = data.at(-1);
  return { data, next: rows.length > limit && last !== undefined ? position(last) : null };
}

/** What a cursor is bound to: list, sort, direction, filters and whose list it is. Any change makes it invalid. */
export type CursorBinding = Record<string, string | number | boolean | null | undefined>;

function bindingMark(binding: CursorBinding): string {
  const sorted = Object.entries(binding)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(sorted)).digest("base64url").slice(0, 12);
}

/** An opaque cursor for `position` in the list that `binding` names. */
export function encodeCursor(position: Position, binding: CursorBinding): string {
  return Buffer.from(JSON.stringify([bindingMark(binding), position.key, position.id])).toString("base64url");
}

/**
 * The position in a cursor whose sort key has the given type. Throws `invalid_cursor` unless it was made for exactly
 * this list.
 */
export function decodeCursor(cursor: string, binding: CursorBinding, keyType: "string" | "number"): Position {
  const refused = new Problem(
    "invalid_cursor",
    "The cursor was not made for this list with these filters and this sort.",
  );
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  } catch {
    throw refused;
  }
  if (!Array.isArray(parts) || parts.length !== 3) throw refused;
  const [mark, key, id] = parts as unknown[];
  if (mark !== bindingMark(binding) || typeof id !== "string") throw refused;
  if (keyType === "string" && typeof key === "string") return { key, id };
  if (keyType === "number" && typeof key === "number" && Number.isSafeInteger(key)) return { key, id };
  throw refused;
}
