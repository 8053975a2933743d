import type { ComponentChildren } from "preact";
import { counted } from "../../core/kernel/counted.ts";
import type { Shown, SignedInVisit, Visit } from "../session/visit.ts";
import { CARRIED, carriedIn, carrying } from "./carried.ts";
import { consequenceShown, isConfirmed } from "./consequence.tsx";
import { type FileRow, type FileShape, readCsvFile } from "./csv-file.ts";
import { Field, Form, FormProblem, Submit } from "./form.tsx";
import { type Column, Rows } from "./list.tsx";
import { encodingField, encodingNote, FILE_FIELD } from "./upload.ts";

/** The form by which a file is sent. */
interface FileForm<V, C extends string> extends FileShape<C> {
  path: string;
  title: string;
  /** What a file holds, and what is done with it. */
  about: ComponentChildren;
  /** Under the field of the file. */
  hint: string;
  /** What the button says that shows the preview. */
  button: string;
  /** Other fields of the form; what the act needs of them is in the preview's data. */
  more?(visit: V): ComponentChildren;
  /** Where all the records are. */
  all: readonly [path: string, words: string];
}

/** A CSV file that is sent by a form, shown as what it would come to, and taken in once that is confirmed. */
interface FileImport<V extends SignedInVisit, C extends string, D> extends FileForm<V, C> {
  preview(visit: V, rows: FileRow<C>[]): Promise<FilePreview<D>>;
  /** Does what was shown, with the preview's data as plain JSON gives it back. */
  act(visit: V, data: D): Promise<Shown>;
}

/** What a file would come to; null for `data`: nothing of it can be done, and there is nothing to confirm. */
interface FilePreview<D> {
  title: string;
  shown: ComponentChildren;
  data: D | null;
  /** What the button says that does it. */
  act: string;
  /** Where nothing can be done. */
  status?: number;
}

/** The page of such a file: to be given to `portalPage` or `consolePage` with what it needs. */
function filePage<V extends SignedInVisit, C extends string, D>(file: FileImport<V, C, D>) {
  const { path } = file;
  const formPage = (visit: V) => formShown(visit, file);
  const act = async (visit: V): Promise<Shown> => {
    if (isConfirmed(visit)) return file.act(visit, carriedIn(visit, path) as D); // what was carried below
    const { rows, encoding } = await readCsvFile(visit.form, file);
    const { title, shown: preview, data, act: button, status } = await file.preview(visit, rows);
    const note = encodingNote(encoding);
    const shown = [note && <p class="hint">{note}</p>, preview];
    if (data === null) return fileShown(visit, file, { title, shown, status: status ?? 409 });
    const carrier = carrying(visit, path, data);
    const asked = { title, to: path, carried: [CARRIED], act: button, back: path, slow: true, children: shown };
    return consequenceShown(carrier, asked);
  };
  return { path, show: formPage, act, again: formPage };
}

function formShown<V extends Visit>(
  visit: V,
  { path, title, about, hint, button, more, all }: FileForm<V, string>,
): Shown {
  const body = (
    <>
      <h1>{title}</h1>
      <FormProblem visit={visit} />
      <Form visit={visit} to={path} files class="narrow">
        {more?.(visit)}
        <Field visit={visit} name={FILE_FIELD} label="File" type="file" hint={hint} required />
        <Field visit={visit} {...encodingField} />
        <Submit>{button}</Submit>
      </Form>
      {about}
      <p>
        <a href={`${visit.base}${all[0]}`}>{all[1]}</a>
      </p>
    </>
  );
  return { title, body };
}

/** What became of a file where nothing is left to confirm. */
function fileShown(
  { base }: Visit,
  { path, all }: FileForm<never, string>,
  { title, shown, status }: { title: string; shown: ComponentChildren; status: number },
): Shown {
  const body = (
    <>
      <h1>{title}</h1>
      {shown}
      <p>
        <a href={`${base}${path}`}>Another file</a>, <a href={`${base}${all[0]}`}>{all[1]}</a>
      </p>
    </>
  );
  return { title, body, status };
}

/** A file whose items are done each by itself: some may be refused, and the others are done. */
export interface FileItems<V extends SignedInVisit, C extends string, G, L> extends FileForm<V, C> {
  /** "order", "Place" and "placed": what an item is, what is done with it, and was. */
  words: { item: string; act: string; done: string };
  columns: readonly C[];
  /** The items that can be done, and a line for each of the file, with what is to be said above them. */
  check(visit: V, rows: FileRow<C>[]): Promise<{ good: G[]; lines: L[]; above?: ComponentChildren }>;
  /** Does one; a refusal is a line too. */
  one(visit: V, good: G): Promise<L>;
  isRefused(line: L): boolean;
  /** The table of the lines. */
  table: readonly Column<L>[];
}

/** The page of such a file. */
export function fileItemsPage<V extends SignedInVisit, C extends string, G, L>(file: FileItems<V, C, G, L>) {
  const { words, title, all, isRefused } = file;
  const tableOf = (visit: V, lines: readonly L[]) => (
    <Rows visit={visit} caption={title} rows={lines} empty="None." columns={file.table} />
  );
  return filePage<V, C, G[]>({
    ...file,
    async preview(visit, rows) {
      const { good, lines, above } = await file.check(visit, rows);
      const table = tableOf(visit, lines);
      const none = `No ${words.item} can be ${words.done}`;
      if (good.length === 0) return { title: none, shown: table, data: null, act: words.act };
      const [act, left] = [`${words.act} ${counted(good.length, words.item)}`, lines.length - good.length];
      const shown = (
        <>
          {above}
          {left > 0 && <p class="alert">{counted(left, words.item)} would be refused, and left out.</p>}
          {table}
        </>
      );
      return { title: `${act}?`, shown, data: good, act };
    },
    async act(visit, good) {
      let ended = 0;
      const lines = await Promise.all(
        good.map(async (one) => {
          const line = await file.one(visit, one);
          await visit.progress.say(++ended, good.length);
          return line;
        }),
      );
      const refused = lines.filter(isRefused);
      const done = `${counted(lines.length - refused.length, words.item)} ${words.done}`;
      if (refused.length === 0) return { to: all[0], notice: `${done}.` };
      const shown = tableOf(visit, refused);
      return fileShown(visit, file, { title: `${done}, ${refused.length} refused`, shown, status: 200 });
    },
  });
}
