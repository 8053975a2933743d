import type { PartnerId } from "./brand.ts";
import type { Environment } from "./environment.ts";
import { firstUuidOf } from "./ids.ts";
import type { CursorBinding, Position } from "./page.ts";

/** What every list over all partners may be narrowed by. */
export interface OverAll {
  limit: number;
  cursor?: string | undefined;
  environment: Environment;
  partnerId?: PartnerId | undefined;
  /** Created at this moment (ms) or later. */
  since?: number | undefined;
  /** Created before this moment (ms). */
  until?: number | undefined;
  /** A customer's e-mail address, or the beginnings of words of the name in any order. */
  customer?: string | undefined;
}

/** Which list a cursor is made for: its name and all that narrows it. */
export function bindingOf(list: string, { limit: _, cursor: __, ...filter }: OverAll): CursorBinding {
  return { list, ...filter };
}

/** The position before the first row of a list that is newest first. */
export function startOf(until: number | undefined): Position<number> {
  // No id is less than "": by creation it starts below all rows of that moment. A letter after f is above every id.
  return until === undefined ? { key: Number.MAX_SAFE_INTEGER, id: "g" } : { key: until - 1, id: firstUuidOf(until) };
}
