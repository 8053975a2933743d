import { flag, integer, text } from "../kernel/input.ts";
import type { Result } from "../output/result.ts";
import type { Column } from "../output/sheet.ts";
import type { PageBody } from "./answers.ts";
import type { Api, Asked } from "./api.ts";

/** What every list with cursors takes. */
export const listOptions = {
  limit: integer("--limit <n>", "records a page, 1 to 100 (default 20)", { min: 1, max: 100 }),
  cursor: text("--cursor <cursor>", "where the next page starts, from the page before"),
  all: flag("--all", "all pages, one after the other"),
};

/** One page, or with `all` every page from the cursor on, as one body of the same shape. */
export async function listPages<T>(
  api: Api,
  path: string,
  query: NonNullable<Asked["query"]>,
  all: boolean,
): Promise<PageBody<T>> {
  const limit = all ? 100 : query.limit;
  const { body } = await api.request<PageBody<T>>("GET", path, { query: { ...query, limit } });
  let next = body.pagination.next_cursor;
  if (!all || next === null) return body;
  const data = [...body.data];
  while (next !== null) {
    const page: PageBody<T> = (
      await api.request<PageBody<T>>("GET", path, { query: { ...query, limit, cursor: next } })
    ).body;
    data.push(...page.data);
    next = page.pagination.next_cursor;
  }
  return { data, pagination: { has_more: false, next_cursor: null, count: data.length } };
}

/** The API's page as the result of a list: itself as JSON, or its records as a table and how to go on. */
export function pageResult<T>(
  body: Pick<PageBody<T>, "pagination">,
  { rows, columns, empty }: { rows: readonly T[]; columns: readonly Column<T>[]; empty: string },
): Result {
  const note = moreNote(body.pagination.next_cursor);
  return { json: body, note, text: (sheet) => sheet.table(columns, rows, empty) };
}

/** What is printed below a page that is not the last. */
export function moreNote(next: string | null): string | undefined {
  return next === null ? undefined : `There is more: --all, or --cursor ${next}`;
}
