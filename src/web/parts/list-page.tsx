import type { ComponentChildren } from "preact";
import { csvLine } from "../../core/csv/write.ts";
import { Problem } from "../../core/kernel/problem.ts";
import { calendarDay, chosen, type Form, field, optionalField, type Shown, type Visit } from "../session/visit.ts";
import { type Filter, List, type ListOf, PAGE_ROWS } from "./list.tsx";
import { pageShown } from "./shown.tsx";
import { type Cell, cellText } from "./words.ts";

/** What is read at a time. */
interface PageAsked {
  limit: number;
  cursor: string | undefined;
}

/** What was read: some rows with where the next ones begin, as lists of core have it, or all that there are. */
type Page<T> =
  | readonly T[]
  | { rows: readonly T[]; next: string | null }
  | { data: readonly T[]; next_cursor: string | null }
  | { data: readonly T[]; pagination: { next_cursor: string | null } };

/** The words of a filter that has choices; any text of one that has none. */
type WordOf<F extends Filter> = F extends { options: readonly (infer O)[] }
  ? O extends readonly [infer W, string]
    ? W
    : O
  : string;

/** What a list is narrowed by, by the names of its filters. */
type Chosen<F extends readonly Filter[]> = { [One in F[number] as One["name"]]: WordOf<One> | undefined };

/** A list as a page of its own: its columns, what narrows it, what it reads, and what is around it. */
interface Listed<T, F extends readonly Filter[]> extends Omit<ListOf<T>, "visit" | "rows" | "next" | "caption"> {
  title: string;
  /** For screen readers; left out: the title. */
  caption?: string;
  filters?: F;
  read(page: PageAsked, chosen: Chosen<F>): Promise<Page<T>>;
  /** What is said where there are no rows and no filter is set; left out: as else. */
  none?: string;
  /** What is said of a page without rows before the last one. */
  emptyPage?: string;
  /** Not read for CSV. */
  above?: ComponentChildren | (() => Promise<ComponentChildren>);
  below?: ComponentChildren;
}

/**
 * A list, as a page or as the CSV that its address asks for. What is wrong with a filter of a page is said beside the
 * filters. Throws `validation` else.
 */
export async function listed<T, const F extends readonly Filter[] = []>(
  visit: Visit,
  given: Listed<T, F>,
): Promise<Shown> {
  try {
    return await wholeList(visit, given);
  } catch (error) {
    const { path, title, caption = title, columns, filters = [], above, below } = given;
    const problem = refusalOf(error, filters);
    if (problem === null || asksCsv(visit)) throw error;
    for (const { name, label } of filters) visit.labels.set(name, label);
    const empty = "Nothing is listed by such a filter.";
    const list = <List {...{ path, caption, columns, filters, empty, rows: [] }} visit={{ ...visit, problem }} />;
    return { ...pageShown(visit, title, await around(list, { above, below })), status: problem.status };
  }
}

/** The refusal of what filters say, and of nothing else; null: it is none. */
function refusalOf(error: unknown, filters: readonly Filter[]): Problem | null {
  if (!(error instanceof Problem) || error.errors === undefined) return null;
  const isFilter = (name: string) => filters.some((filter) => filter.name === name);
  return Object.keys(error.errors).every(isFilter) ? error : null;
}

async function around(
  list: ComponentChildren,
  { above, below }: Pick<Listed<never, []>, "above" | "below">,
): Promise<ComponentChildren> {
  return (
    <>
      {typeof above === "function" ? await above() : above}
      {list}
      {below}
    </>
  );
}

async function wholeList<T, const F extends readonly Filter[]>(
  visit: Visit,
  { title, read, none, emptyPage, above, below, ...list }: Listed<T, F>,
): Promise<Shown> {
  const asked = chosenOf(visit.query, list.filters);
  const found = await readRows(visit, async (limit, cursor) => {
    const page = await read({ limit, cursor }, asked);
    if (!("length" in page) && "rows" in page) return page;
    if ("length" in page) return { rows: page, next: null };
    return { rows: page.data, next: "pagination" in page ? page.pagination.next_cursor : page.next_cursor };
  });
  const isWhole = field(visit.query, "cursor") === "" && Object.values(asked).every((one) => one === undefined);
  const last = isWhole ? (none ?? list.empty) : list.empty;
  const empty = found.next === null ? last : (emptyPage ?? list.empty);
  const whole = { caption: title, ...list, ...found, empty, visit };
  if (asksCsv(visit)) return listCsv(whole);
  // A form of the page that was refused says so above the list.
  const shown = <List {...whole} visit={{ ...visit, problem: null }} />;
  return pageShown(visit, title, await around(shown, { above, below }));
}

/** What the address chooses of these filters. Throws `validation` for a word that is none of a filter's, or no day. */
function chosenOf<F extends readonly Filter[]>(query: Form, filters?: F): Chosen<F> {
  const values = (filters ?? []).map(({ name, type, options }) => {
    if (options !== undefined) {
      const words = options.map((option) => (typeof option === "string" ? option : option[0]));
      return [name, chosen(query, name, words)];
    }
    return [name, type === "date" ? calendarDay(query, name) : optionalField(query, name)];
  });
  return Object.fromEntries(values) as Chosen<F>; // each value is one that its own filter has
}

/** The rows of a CSV file at most. */
const CSV_ROWS = 10_000;

/** Whether the address asks for the list as CSV. */
function asksCsv({ query }: Visit): boolean {
  return field(query, "format") === "csv";
}

/** Reads as many rows as a page shows, or, for CSV, page after page up to 10,000. */
async function readRows<T>(
  visit: Visit,
  read: (limit: number, cursor: string | undefined) => Promise<{ rows: readonly T[]; next: string | null }>,
): Promise<{ rows: readonly T[]; next: string | null }> {
  const cursor = field(visit.query, "cursor") || undefined;
  if (!asksCsv(visit)) return read(PAGE_ROWS, cursor);
  const rows: T[] = [];
  let next: string | null | undefined = cursor;
  do {
    const page: { rows: readonly T[]; next: string | null } = await read(100, next ?? undefined);
    rows.push(...page.rows);
    next = page.next;
  } while (next !== null && rows.length < CSV_ROWS);
  return { rows, next };
}

/** The list as CSV, as it is filtered; a last line says where there is more. No cell is a spreadsheet's formula. */
function listCsv<T>({ columns, rows, next, path }: Pick<ListOf<T>, "columns" | "rows" | "next" | "path">): Shown {
  const kept = columns.filter(({ leads }) => leads !== true);
  const lines = withCurrencies(
    kept.map(({ title }) => title),
    rows.map((row) => kept.map(({ cell }) => cell(row))),
  );
  const more = next ? [[`These are the first ${rows.length} rows: narrow the list by its filters.`]] : [];
  const file = [...lines, ...more].map((cells) => csvLine({ delimiter: "," }, cells)).join("");
  return { file, type: "text/csv; charset=utf-8", name: `${path.split("/").filter(Boolean).join("-")}.csv` };
}

/**
 * Amounts are plain numbers in CSV, their currency in a column of its own. A row with amounts in several has it beside
 * those that are in another than the first.
 */
function withCurrencies(titles: readonly string[], rows: readonly (readonly Cell[])[]): string[][] {
  const hasOwn = titles.includes("Currency");
  if (hasOwn || !rows.some((cells) => cells.some(isMoney)))
    return [[...titles], ...rows.map((cells) => cells.map(cellText))];
  const lines = rows.map((cells) => {
    const currency = cells.find(isMoney)?.currency ?? "";
    const text = (cell: Cell) =>
      isMoney(cell) && cell.currency !== currency ? `${cellText(cell)} ${cell.currency}` : cellText(cell);
    return [...cells.map(text), currency];
  });
  return [[...titles, "Currency"], ...lines];
}

function isMoney(cell: Cell): cell is Extract<Cell, { money: number }> {
  return typeof cell === "object" && cell !== null && "money" in cell;
}
