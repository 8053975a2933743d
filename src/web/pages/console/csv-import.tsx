import type { ComponentChildren } from "preact";
import { type FieldOf, formShown, namesOf } from "../../parts/act-form.tsx";
import { consequenceShown, isConfirmed } from "../../parts/consequence.tsx";
import { backLink, pageShown } from "../../parts/shown.tsx";
import { encodingField } from "../../parts/upload.ts";
import { consolePage, type RegisteredPage } from "../../session/page.ts";
import type { ConsoleVisit, Shown } from "../../session/visit.ts";
import { csvText, TEXT_FIELD } from "./csv.tsx";

/** What a file would come to: whether there is anything to take in, and the words and tables that show it. */
interface Rehearsed {
  any: boolean;
  preview: ComponentChildren;
}

/** An import from a CSV file: its form, what it was checked to hold, and what is written of it. */
export interface CsvImport<C> {
  path: string;
  needs: "catalog.write" | "stock.write";
  title: string;
  /** Of the page on which nothing of the file can be taken in, and its status. */
  nothing: string;
  status?: number;
  /** The list that it is for, under the console's base. */
  list: readonly [to: string, words: string];
  most: number;
  /** The fields before and after that of the file. */
  fields?(visit: ConsoleVisit): readonly [before: readonly FieldOf[], after: readonly FieldOf[]];
  /** What the button of the form says. */
  submit: string;
  /** What its columns are. */
  columns: string;
  check(text: string, visit: ConsoleVisit): Promise<C> | C;
  rehearse(checked: C, visit: ConsoleVisit): Promise<Rehearsed>;
  /** Writes it, and says what was done. */
  write(checked: C, visit: ConsoleVisit): Promise<string>;
}

/** The pages of an import: the form, and what it would come to, with the button that does it. */
export function csvImportPages<C>(given: CsvImport<C>): RegisteredPage[] {
  const { path, needs } = given;
  const show = (visit: ConsoleVisit) => importForm(given, visit);
  const act = (visit: ConsoleVisit) => importFile(given, visit);
  return [consolePage({ path, needs, show, act, again: show, secret: true })];
}

function importForm<C>(given: CsvImport<C>, visit: ConsoleVisit): Shown {
  const { path: to, title, most, submit, columns, list } = given;
  const [before, after] = given.fields?.(visit) ?? [[], []];
  const hint = `CSV with a header, at most ${most.toLocaleString("en")} rows.`;
  const fields = [
    ...before,
    { name: "file", label: "File", type: "file", hint, required: true },
    encodingField,
    ...after,
  ];
  const form = formShown(visit, { to, files: true, fields, submit });
  return pageShown(visit, title, [form, <p>{columns}</p>, backLink(visit, ...list)]);
}

async function importFile<C>(given: CsvImport<C>, visit: ConsoleVisit): Promise<Shown> {
  const { path, title, nothing, status, list } = given;
  const { text, note } = await csvText(visit.form);
  const checked = await given.check(text, visit);
  if (isConfirmed(visit)) return { to: list[0], notice: await given.write(checked, visit) };
  const { any, preview: shown } = await given.rehearse(checked, visit);
  const preview = [note && <p class="hint">{note}</p>, shown];
  if (!any) {
    const body = [preview, backLink(visit, path, "Choose another file")];
    return { ...pageShown(visit, nothing, body), status };
  }
  const carried = [TEXT_FIELD, ...(given.fields?.(visit) ?? []).flatMap(namesOf)];
  return consequenceShown(
    { ...visit, form: { ...visit.form, [TEXT_FIELD]: text } },
    { title: `${title}?`, to: path, carried, act: "Import", back: path, slow: true, children: preview },
  );
}
