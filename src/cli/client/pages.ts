import { flag, integer, text } from "../kernel/input.ts";
import type { Listing } from "../output/listing.ts";
import type { PageBody } from "./answers.ts";
import type { Api, RequestContent } from "./api.ts";

/** What every list with cursors takes. */
export const listOptions = {
  limit: integer("--limit <n>", "records a page, 1 to 100 (default 20)", { min: 1, max: 100 }),
  cursor: text("--cursor <cursor>", "where the next page starts, from the page before"),
  all: flag("--all", "all pages, one after the other"),
};

/** What to ask a list of the API for. */
interface ListQuery {
  path: string;
  query: NonNullable<RequestContent["query"]>;
  /** Every page from the cursor on, not only one. */
  all: boolean;
  /** Rows a page with `all` (default 100, what most lists answer at most). */
  most?: number;
}

/** How a list of the API is printed. */
interface ListLook<B, T extends object> extends Pick<Listing<T>, "columns" | "empty"> {
  /** The member of the body that holds the rows. */
  key: string;
  rows(body: B): readonly T[];
  /** Whether the body has a `count` too. */
  counts?: boolean;
}

type Paged = Pick<PageBody<unknown>, "pagination">;

/** The bodies of the pages, one after the other. */
async function* bodiesOf<B extends Paged>(api: Api, { path, query, all, most = 100 }: ListQuery): AsyncGenerator<B> {
  const limit = all ? most : query.limit;
  for (let cursor = query.cursor; ; ) {
    const { body } = await api.request<B>("GET", path, { query: { ...query, limit, cursor } });
    yield body;
    const next = body.pagination.next_cursor;
    if (!all || next === null) return;
    cursor = next;
  }
}

/** Every row of a list, together. */
export async function listAll<T>(api: Api, path: string, query: ListQuery["query"]): Promise<T[]> {
  const rows: T[] = [];
  for await (const { data } of bodiesOf<PageBody<T>>(api, { path, query, all: true })) rows.push(...data);
  return rows;
}

/** The API's list to print: as JSON one body of the API's shape, whatever number of pages it took. */
export function apiListing<B extends Paged, T extends object>(
  api: Api,
  asked: ListQuery,
  { key, rows, counts = false, ...look }: ListLook<B, T>,
): Listing<T> {
  let last: Paged["pagination"] = { has_more: false, next_cursor: null, count: 0 };
  return {
    ...look,
    key,
    pages: (async function* () {
      for await (const body of bodiesOf<B>(api, asked)) {
        last = body.pagination;
        yield rows(body);
      }
    })(),
    rest: (count) => ({
      ...(counts ? { count } : {}),
      pagination: asked.all ? { has_more: false, next_cursor: null, count } : last,
    }),
    note: () => moreNote(last.next_cursor),
  };
}

/** The same for a list whose rows are its `data`. */
export function dataListing<T extends object>(
  api: Api,
  asked: ListQuery,
  look: Omit<ListLook<PageBody<T>, T>, "key" | "rows">,
): Listing<T> {
  return apiListing<PageBody<T>, T>(api, asked, { ...look, key: "data", rows: ({ data }) => data });
}

/** What is printed below a page that is not the last. */
export function moreNote(next: string | null): string | undefined {
  return next === null ? undefined : `There is more: --all, or --cursor ${next}`;
}
