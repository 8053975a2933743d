import type { ComponentChildren } from "preact";
import { withoutHidden } from "../../../core/kernel/hidden-characters.ts";
import { Problem } from "../../../core/kernel/problem.ts";
import { FormProblem } from "../../parts/form.tsx";
import { asksCsv, List, type ListOf, listCsv, readRows } from "../../parts/list.tsx";
import { field, type PortalVisit, type Shown } from "../../session/visit.ts";

interface Framed {
  body: ComponentChildren;
  back?: readonly [path: string, words: string];
  status?: number;
  secret?: true;
}

/** A page under its heading, with what is wrong with a form that was sent, and the way back. */
export function titled(visit: PortalVisit, title: string, { body, back, ...more }: Framed): Shown {
  const whole = (
    <>
      <h1>{withoutHidden(title)}</h1>
      <FormProblem visit={visit} />
      {body}
      {back && (
        <p>
          <a href={`${visit.base}${back[0]}`}>{back[1]}</a>
        </p>
      )}
    </>
  );
  return { title, body: whole, ...more };
}

type Listing<T> = Pick<ListOf<T>, "path" | "columns" | "filters" | "empty"> & {
  title: string;
  caption?: string;
  /** Reads one page of it. */
  read(page: { limit: number; cursor: string | undefined }): Promise<{
    data: readonly T[];
    pagination: { next_cursor: string | null };
  }>;
  select?: ListOf<T>["select"] | false;
  /** What is said of a page without rows before the last one. */
  emptyPage?: string;
  /** What is above the list; not read for CSV. */
  above?: ComponentChildren | (() => Promise<ComponentChildren>);
};

/** A page that lists records of the partner, or the CSV that its address asks for. */
export async function ownList<T>(
  visit: PortalVisit,
  { title, read, select, above, emptyPage, ...list }: Listing<T>,
): Promise<Shown> {
  const { rows, next } = await readRows(visit, async (limit, cursor) => {
    const { data, pagination } = await read({ limit, cursor });
    return { rows: data, next: pagination.next_cursor };
  });
  const empty = next === null ? list.empty : (emptyPage ?? list.empty);
  const whole = { visit, caption: title, ...list, rows, next, empty, ...(select ? { select } : {}) };
  if (asksCsv(visit)) return listCsv(whole);
  const body = (
    <>
      {typeof above === "function" ? await above() : above}
      <List {...whole} />
    </>
  );
  return titled(visit, title, { body });
}

/** The one time that a secret is shown: each with the ID of its element and its name. */
export function secretShown(
  visit: PortalVisit,
  title: string,
  { secrets, words, back }: { secrets: readonly (readonly [string, string, string])[]; words?: string; back: string },
): Shown {
  const body = (
    <>
      <p class="alert">The secret is shown only now. Keep it where your program finds it, and nowhere else.</p>
      {secrets.map(([id, name, value]) => (
        <>
          <h2>{name}</h2>
          <pre data-copy="" id={id}>
            {value}
          </pre>
        </>
      ))}
      {words && <p>{words}</p>}
    </>
  );
  return titled(visit, title, { body, back: [back, "Continue"], secret: true });
}

const OPENED_IN = "opened_in";

/** The field that binds a form to the environment in which it was opened. */
export function OpenedIn({ visit }: { visit: PortalVisit }) {
  return <input type="hidden" name={OPENED_IN} value={visit.owner.environment} />;
}

/** Refuses a form that was opened in the other environment. Throws `conflict`. */
export function requireOpenedHere({ form, owner }: PortalVisit): void {
  const opened = field(form, OPENED_IN);
  if (opened === "" || opened === owner.environment) return;
  throw new Problem(
    "conflict",
    `This form was opened in the ${opened === "sandbox" ? "sandbox" : "production"} environment, and you are in ` +
      `${owner.environment} now: nothing was done. Switch back, or look at the form and send it again.`,
  );
}
