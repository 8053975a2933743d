import { invalid } from "./airalo-answers.ts";
import type { ProviderAnswer } from "./provider.ts";

/** What a list can be asked for. */
export interface ListFilters {
  /** Whether a row of this moment is within the days asked for. */
  within(created_at: number): boolean;
  /** Whether one of `texts` is like what a filter asks for; without the filter all are. */
  like(filter: string): (...texts: (string | null)[]) => boolean;
  /** The filter's own text; null: it is not given. */
  given(filter: string): string | null;
}

const DAY = 86_400_000;

/** `filter[…]` of a query, of which only `known` are understood. */
export function readFilters(
  query: URLSearchParams,
  known: readonly string[],
): { filters: ListFilters } | { fault: ProviderAnswer } {
  const given = (filter: string) => query.get(`filter[${filter}]`) || null;
  for (const name of query.keys()) {
    const filter = /^filter\[(.*)\]$/.exec(name)?.[1];
    if (filter !== undefined && !known.includes(filter)) {
      return { fault: invalid({ filter: `Requested filter(s) ${filter} are not allowed.` }) };
    }
  }
  const days = given("created_at");
  const range = days === null ? { from: 0, to: Number.POSITIVE_INFINITY } : readDays(days);
  if (range === null) return { fault: invalid({ "filter.created_at": "The filter.created_at format is invalid." }) };
  return {
    filters: {
      given,
      within: (created_at) => created_at >= range.from && created_at < range.to,
      like(filter) {
        const asked = given(filter);
        if (asked === null) return () => true;
        const pattern = sqlLike(asked);
        return (...texts) => texts.some((text) => text !== null && pattern.test(text));
      },
    },
  };
}

/** "2026-03-01 - 2026-03-02", both days included; null: it is something else. */
function readDays(text: string): { from: number; to: number } | null {
  const [, first = "", last = ""] = /^(\d{4}-\d{2}-\d{2}) - (\d{4}-\d{2}-\d{2})$/.exec(text) ?? [];
  const [from, to] = [Date.parse(first), Date.parse(last)];
  return Number.isNaN(from) || Number.isNaN(to) ? null : { from, to: to + DAY };
}

/** A text search as SQL has it: `%` is any text, `_` any character, and case does not count. */
function sqlLike(text: string): RegExp {
  const plain = text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(plain.replaceAll("%", ".*").replaceAll("_", "."), "is");
}

/** The parts of `include` that are asked for, or the answer that refuses one. */
export function readInclude<Include extends string>(
  query: URLSearchParams,
  known: readonly Include[],
): { include: Set<Include> } | { fault: ProviderAnswer } {
  const asked = (query.get("include") ?? "").split(",").filter((one) => one !== "");
  const include = new Set(known.filter((one) => asked.includes(one)));
  const unknown = asked.filter((one) => !known.some((other) => other === one));
  if (unknown.length === 0) return { include };
  return { fault: invalid({ include: `Requested include(s) ${unknown.join(", ")} are not allowed.` }) };
}
