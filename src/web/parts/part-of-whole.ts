import { invalid } from "../../core/kernel/problem.ts";

/** A page of rows that were read whole: its cursor is the number of the rows before. Throws `validation`. */
export function partOfWhole<T>(
  rows: readonly T[],
  { limit, cursor = "0" }: { limit: number; cursor: string | undefined },
): { rows: readonly T[]; next: string | null } {
  if (!/^\d{1,9}$/.test(cursor)) throw invalid({ cursor: ["is not of this list"] });
  const end = Number(cursor) + limit;
  return { rows: rows.slice(Number(cursor), end), next: end < rows.length ? String(end) : null };
}
