import type { ComponentChildren } from "preact";
import { LinkButton } from "../../parts/act-form.tsx";
import { pageShown } from "../../parts/act-shown.tsx";
import { asksCsv, type Column, List, type ListOf, listCsv, Record, Rows, readRows } from "../../parts/list.tsx";
import type { Cell } from "../../parts/words.ts";
import type { ConsoleVisit } from "../../session/visit.ts";

type Page<T> =
  | { rows: readonly T[]; next: string | null }
  | { data: readonly T[]; pagination: { next_cursor: string | null } };

/** A list as a page of its own: what it reads, and what is around it. */
export interface Listed<T> extends Omit<ListOf<T>, "visit" | "rows" | "next"> {
  title: string;
  read(page: { limit: number; cursor: string | undefined }): Promise<Page<T>>;
  above?: ComponentChildren;
  below?: ComponentChildren;
}

/** A list, as a page or as the CSV that its address asks for. */
export async function listed<T>(visit: ConsoleVisit, { title, read, above, below, ...list }: Listed<T>) {
  const found = await readRows(visit, async (limit, cursor) => {
    const page = await read({ limit, cursor });
    return "rows" in page ? page : { rows: page.data, next: page.pagination.next_cursor };
  });
  const whole = { ...list, ...found, visit };
  if (asksCsv(visit)) return listCsv(whole);
  const body = (
    <>
      {above}
      <List {...whole} />
      {below}
    </>
  );
  return pageShown(visit, title, body);
}

/** All rows at once, as `listed` reads them. */
export async function allOf<T>(rows: Promise<readonly T[]> | readonly T[]): Promise<Page<T>> {
  return { rows: await rows, next: null };
}

interface TableOf<T> {
  /** The heading of its section; left out: it is in another's. */
  title?: string;
  id?: string;
  /** For screen readers; left out: the heading. */
  caption?: string;
  rows: readonly T[];
  /** What is said where there are none; left out: it is not there then. */
  empty?: string;
}

/** A small table of what belongs to a page. */
export function table<T>(visit: ConsoleVisit, given: TableOf<T>, columns: readonly Column<T>[]): ComponentChildren {
  const { title, id, caption = title ?? "", rows, empty } = given;
  if (rows.length === 0 && empty === undefined) return null;
  const shown = <Rows visit={visit} caption={caption} rows={rows} empty={empty ?? ""} columns={columns} />;
  if (title === undefined) return shown;
  return (
    <section id={id}>
      <h2>{title}</h2>
      {shown}
    </section>
  );
}

/** Names and values of a record. */
export type Fields = readonly (readonly [name: string, cell: Cell])[];

/** A record, with what may be done to it under it. */
export function record(visit: ConsoleVisit, fields: Fields, acts?: ComponentChildren): ComponentChildren {
  return (
    <section>
      <Record visit={visit} fields={fields} />
      {acts && <div class="acts">{acts}</div>}
    </section>
  );
}

/** Links that look like buttons, to pages under the console's base; null is none. */
export function links(visit: ConsoleVisit, all: readonly (readonly [to: string, words: string] | null)[]) {
  return all.map((one) => one && <LinkButton visit={visit} to={one[0]} words={one[1]} />);
}

/** A part of the address by its name in the page's path. Any text may be in it: only a record's own finds one. */
export function partIn({ request }: Pick<ConsoleVisit, "request">, name: string): string {
  // Fastify has it under the name that is in the path.
  return (request.params as Readonly<{ [part: string]: string | undefined }>)[name] ?? "";
}
