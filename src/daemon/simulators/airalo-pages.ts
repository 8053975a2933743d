import { invalid } from "./airalo-answers.ts";
import type { ProviderAnswer, ProviderRequest } from "./provider.ts";

/** The part of a list that is asked for. */
export interface PageAsked {
  page: number;
  limit: number;
}

/** Rows of a page without `limit`. */
const STANDARD_LIMIT = 25;

/** `page` and `limit` of a query, or the answer that refuses them. */
export function readPage(query: URLSearchParams): { page: PageAsked } | { fault: ProviderAnswer } {
  const faults: Record<string, string> = {};
  const read = (name: "limit" | "page", standard: number) => {
    const text = query.get(name) || String(standard);
    if (!/^\d{1,9}$/.test(text)) faults[name] = `The ${name} must be an integer.`;
    else if (Number(text) === 0) faults[name] = `The ${name} must be at least 1.`;
    return Number(text);
  };
  const page = { limit: read("limit", STANDARD_LIMIT), page: read("page", 1) };
  return Object.keys(faults).length > 0 ? { fault: invalid(faults) } : { page };
}

/** A page of `rows`, with links to the others and what `meta` says of it. */
export function pageOf<Row>(rows: readonly Row[], { page, limit }: PageAsked, request: ProviderRequest) {
  const start = (page - 1) * limit;
  const data = rows.slice(start, start + limit);
  const last_page = Math.max(1, Math.ceil(rows.length / limit));
  const path = `http://${request.headers.host ?? "localhost"}/v2${request.path}`;
  const link = (to: number) => {
    const query = new URLSearchParams(request.query);
    query.set("page", String(to));
    return `${path}?${query}`;
  };
  return {
    data,
    links: {
      first: link(1),
      last: link(last_page),
      prev: page > 1 ? link(page - 1) : null,
      next: page < last_page ? link(page + 1) : null,
    },
    meta: {
      message: "success",
      current_page: page,
      from: data.length > 0 ? start + 1 : null,
      last_page,
      path,
      per_page: String(limit),
      to: data.length > 0 ? start + data.length : null,
      total: rows.length,
    },
  };
}
