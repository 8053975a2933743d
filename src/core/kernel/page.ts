import { createHash } from "node:crypto";
import { Problem } from "./problem.ts";

/** The pagination object of a list's body (contract: Pagination object). */
export interface Pagination {
  has_more: boolean;
  next_cursor: string | null;
  count: number;
}

/** A row's place in list order: its sort key and its id (contract: Pagination rule). */
export interface Position<K extends string | number> {
  key: K;
  id: string;
}

/** The rows that a list query reads: `limit` of those after this position. */
export interface Window<K extends string | number> extends Position<K> {
  limit: number;
  /** Whether the list is read from its start. */
  first: boolean;
}

/** Which page of which list. `start` is before the list's first row; its key has the type of the sort key. */
export interface PageRequest<K extends string | number> {
  limit: number;
  cursor: string | undefined;
  binding: CursorBinding;
  start: Position<K>;
}

/** Before the first row of a list that is newest first by (created_at, id). */
export const newestFirst: Position<number> = { key: Number.MAX_SAFE_INTEGER, id: "" };

/** The same of a list that is oldest first. */
export const oldestFirst: Position<number> = { key: -1, id: "" };

/** The position of a record in a list that is newest first. */
export function byCreation({ created_at: key, id }: { created_at: number; id: string }): Position<number> {
  return { key, id };
}

/**
 * One page of a keyset-paginated list. `read` is asked for one row more than the page holds, which shows whether there
 * is a next page. Throws `invalid_cursor`.
 */
export async function pageOf<R, K extends string | number>(
  { limit, cursor, binding, start }: PageRequest<K>,
  read: (window: Window<K>) => Promise<R[]>,
  positionOf: (row: R) => Position<K>,
): Promise<{ rows: R[]; pagination: Pagination }> {
  const from = cursor === undefined ? start : decodeCursor(cursor, binding, start.key);
  const found = await read({ key: from.key, id: from.id, limit: limit + 1, first: cursor === undefined });
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  const next_cursor = found.length > limit && last !== undefined ? encodeCursor(positionOf(last), binding) : null;
  return { rows, pagination: { has_more: next_cursor !== null, next_cursor, count: rows.length } };
}

/** Rows that a walk reads at a time. */
const STRIDE = 200;

/**
 * The first rows of a window that pass a filter which the database does not know, read stride by stride: memory stays
 * flat, however few pass.
 */
export async function walk<R, K extends string | number>(
  window: Window<K>,
  passes: (row: R) => boolean,
  { read, positionOf }: { read(from: Window<K>): Promise<R[]>; positionOf(row: R): Position<K> },
): Promise<R[]> {
  const rows: R[] = [];
  let from = window;
  for (let { limit } = window; rows.length < window.limit; limit = Math.max(STRIDE, window.limit)) {
    const found = await read({ ...from, limit });
    rows.push(...found.filter(passes));
    const last = found.at(-1);
    if (found.length < limit || last === undefined) break;
    from = { ...window, ...positionOf(last), first: false };
  }
  return rows.slice(0, window.limit);
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
export function encodeCursor(position: Position<string | number>, binding: CursorBinding): string {
  return Buffer.from(JSON.stringify([bindingMark(binding), position.key, position.id])).toString("base64url");
}

/**
 * The position in a cursor whose sort key has the type of `sample`. Throws `invalid_cursor` unless it was made for
 * exactly this list.
 */
export function decodeCursor<K extends string | number>(
  cursor: string,
  binding: CursorBinding,
  sample: K,
): Position<K> {
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
  if (mark !== bindingMark(binding) || typeof id !== "string" || !isKeyLike(key, sample)) throw refused;
  return { key, id };
}

function isKeyLike<K extends string | number>(key: unknown, sample: K): key is K {
  return typeof key === typeof sample && (typeof key !== "number" || Number.isSafeInteger(key));
}
