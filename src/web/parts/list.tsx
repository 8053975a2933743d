import { type ComponentChildren, h } from "preact";
import { withoutHidden } from "../../core/kernel/hidden-characters.ts";
import { field, type Visit } from "../session/visit.ts";
import { cellShown } from "./cell.tsx";
import { FormProblem } from "./form.tsx";
import { type Cell, cellText, plain } from "./words.ts";

/** A column of a list. */
export interface Column<T> {
  title: string;
  cell(row: T): Cell;
  right?: boolean;
  /** It only leads elsewhere: CSV has no such column. */
  leads?: true;
}

/** What a list is narrowed by, from its address. */
export interface Filter {
  name: string;
  label: string;
  type?: "text" | "search" | "date";
  /** The choices, where there are few; an empty one is added, which `any` names. */
  options?: readonly (string | readonly [value: string, words: string])[];
  any?: string;
}

/** A list with its filters, pages, CSV and, where rows can be chosen, what to do with them. */
export interface ListOf<T> {
  visit: Visit;
  /** Its path under the face's base. */
  path: string;
  /** What it lists, for screen readers. */
  caption: string;
  columns: readonly Column<T>[];
  filters?: readonly Filter[];
  rows: readonly T[];
  next?: string | null;
  /** False: no address has what narrows it, so none leads to it as CSV. */
  csv?: boolean;
  /** What to do where there is none. */
  empty: ComponentChildren;
  /** Makes rows selectable: the value of each, and the buttons of the form around them. */
  select?: { name: string; valueOf(row: T): string; acts: ComponentChildren; to: string };
}

/** The rows that one page shows. */
export const PAGE_ROWS = 50;

function addressOf({ visit, path }: Pick<ListOf<never>, "visit" | "path">, change: Record<string, string>): string {
  const kept = Object.entries(visit.query).filter(([, value]) => typeof value === "string" && value !== "");
  const all = new URLSearchParams({ ...Object.fromEntries(kept), ...change } as Record<string, string>);
  const text = all.toString();
  return `${visit.base}${path}${text === "" ? "" : `?${text}`}`;
}

/** The table of a list with all around it. */
export function List<T>(list: ListOf<T>) {
  const { visit, filters = [], rows, next, csv = true, empty, select } = list;
  const table = <Table {...list} />;
  return (
    <div data-live-list="">
      {filters.length > 0 && <FilterBar {...list} filters={filters} />}
      <FormProblem visit={visit} />
      {rows.length === 0 ? (
        <div class="empty">{empty}</div>
      ) : select === undefined ? (
        table
      ) : (
        <form method="post" action={`${visit.base}${select.to}`}>
          <input type="hidden" name="_csrf" value={visit.csrf} />
          <div class="acts">{select.acts}</div>
          {table}
        </form>
      )}
      <nav class="pages" aria-label="Pages of the list">
        {field(visit.query, "cursor") !== "" && <a href={addressOf(list as never, { cursor: "" })}>First page</a>}
        {next && (
          <a href={addressOf(list as never, { cursor: next })} rel="next">
            Next page
          </a>
        )}
        {csv && (rows.length > 0 || next) && (
          <a href={addressOf(list as never, { format: "csv", cursor: "" })}>Download CSV</a>
        )}
      </nav>
    </div>
  );
}

function FilterBar<T>({ visit, path, filters }: ListOf<T> & { filters: readonly Filter[] }) {
  return (
    <form method="get" action={`${visit.base}${path}`} class="filters" data-filters="">
      {filters.map(({ name, label, type = "search", options, any = "any" }) => (
        <label key={name} for={`filter-${name}`}>
          {label}
          {options === undefined ? (
            h("input", { id: `filter-${name}`, type, name, value: field(visit.query, name) || undefined })
          ) : (
            <select id={`filter-${name}`} name={name}>
              <option value="">{any}</option>
              {options.map((option) => {
                const [value, words] = typeof option === "string" ? [option, plain(option)] : option;
                return (
                  <option value={value} selected={value === field(visit.query, name)}>
                    {words}
                  </option>
                );
              })}
            </select>
          )}
        </label>
      ))}
      <button type="submit" class="plain">
        Filter
      </button>
    </form>
  );
}

function Table<T>({ visit, caption, columns, rows, select }: ListOf<T>) {
  return (
    // The region scrolls sideways on small screens, by keyboard too.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached
    <section class="scroll" aria-label={caption} tabIndex={0}>
      <table>
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {select && (
              <th scope="col">
                <span class="visually-hidden">Choose</span>
              </th>
            )}
            {columns.map(({ title, right }) => (
              <th scope="col" class={right ? "right" : undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr>
              {select && (
                <td>
                  <input
                    type="checkbox"
                    name={select.name}
                    value={select.valueOf(row)}
                    aria-label={`Choose ${withoutHidden(cellText(columns[0]?.cell(row) ?? ""))}`}
                  />
                </td>
              )}
              {columns.map(({ title, cell, right }) => (
                <td data-title={title} class={right ? "right" : undefined}>
                  {cellShown(cell(row), visit)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** A small table without filters and pages, of what belongs to a record. */
export function Rows<T>({
  visit,
  caption,
  columns,
  rows,
  empty,
}: Pick<ListOf<T>, "visit" | "caption" | "columns" | "rows" | "empty">) {
  if (rows.length === 0) return <p class="empty">{empty}</p>;
  return <Table visit={visit} path="" caption={caption} columns={columns} rows={rows} empty={empty} />;
}

/** A record: names and values. */
export function Record({ visit, fields }: { visit: Visit; fields: readonly (readonly [name: string, cell: Cell])[] }) {
  return (
    <dl class="record">
      {fields.map(([name, cell]) => (
        <div>
          <dt>{name}</dt>
          <dd>{cellShown(cell, visit)}</dd>
        </div>
      ))}
    </dl>
  );
}
