import type { ComponentChildren } from "preact";
import { withoutHidden } from "../../core/kernel/hidden-characters.ts";
import type { Shown, Visit } from "../session/visit.ts";
import { FormProblem } from "./form.tsx";
import { type Column, Record, Rows } from "./list.tsx";
import { type Cell, plain } from "./words.ts";

/** A page under its heading, with what was wrong with a form of it. */
export function pageShown(visit: Visit, title: string, children: ComponentChildren): Shown & { title: string } {
  const body = (
    <>
      <h1>{withoutHidden(title)}</h1>
      <FormProblem visit={visit} />
      {children}
    </>
  );
  return { title, body };
}

/** A link to the page that a page belongs to. */
export function backLink({ base }: Visit, to: string, words: string): ComponentChildren {
  return (
    <p>
      <a href={`${base}${to}`}>{words}</a>
    </p>
  );
}

/** Names and values of a record. */
export type Fields = readonly (readonly [name: string, cell: Cell])[];

/** A record, with what may be done to it under it. */
export function record(visit: Visit, fields: Fields, acts?: ComponentChildren): ComponentChildren {
  return (
    <section>
      <Record visit={visit} fields={fields} />
      {acts && <div class="acts">{acts}</div>}
    </section>
  );
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
  /** The page of all of them, under the face's base, where here are the first ten; left out: here are all. */
  whole?: string;
}

const FIRST = 10;

/** A small table of what belongs to a page. */
export function table<T>(visit: Visit, given: TableOf<T>, columns: readonly Column<T>[]): ComponentChildren {
  const { title, id, caption = title ?? "", empty, whole } = given;
  const rows = whole === undefined ? given.rows : given.rows.slice(0, FIRST);
  if (rows.length === 0 && empty === undefined) return null;
  const shown = <Rows visit={visit} caption={caption} rows={rows} empty={empty ?? ""} columns={columns} />;
  if (title === undefined) return shown;
  return (
    <section id={id}>
      <h2>{title}</h2>
      {shown}
      {rows.length < given.rows.length && (
        <p>
          <a href={`${visit.base}${whole}`}>Show all {given.rows.length}</a>
        </p>
      )}
    </section>
  );
}

/** A link to a page under the face's base that looks like a button. */
export function LinkButton({ visit, to, words, main }: { visit: Visit; to: string; words: string; main?: boolean }) {
  return (
    <a class={main ? "button" : "button plain"} href={`${visit.base}${to}`}>
      {words}
    </a>
  );
}

/** Links that look like buttons, to pages under the face's base; null is none. */
export function links(visit: Visit, all: readonly (readonly [to: string, words: string] | null)[]) {
  return all.map((one) => one && <LinkButton visit={visit} to={one[0]} words={one[1]} />);
}

/** What is shown once: each value with its heading, to be copied. */
export function onceShown(
  visit: Visit,
  title: string,
  given: {
    words: string;
    values: readonly (readonly [id: string, heading: string, value: string])[];
    /** What follows them. */
    after?: string;
    back: string;
  },
): Shown {
  const { words, values, after, back } = given;
  const body = (
    <>
      <p class="alert">{words}</p>
      {values.map(([id, heading, value]) => (
        <>
          <h2>{heading}</h2>
          <pre data-copy="" id={id}>
            {value}
          </pre>
        </>
      ))}
      {after && <p>{after}</p>}
      {backLink(visit, back, "Continue")}
    </>
  );
  return { ...pageShown(visit, title, body), secret: true };
}

/** "Status: pending → completed.", of words of the API. */
export function changeWords(from: string, to: string): string {
  return from === to ? `It stays ${plain(from)}.` : `Status: ${plain(from)} → ${plain(to)}.`;
}
