import type { ComponentChildren } from "preact";
import { counted } from "../../core/kernel/counted.ts";
import { partIn, type Shown, type SignedInVisit, type Visit } from "../session/visit.ts";
import { type FieldOf, formShown } from "./act-form.tsx";
import { CARRIED, carriedIn, carrying } from "./carried.ts";
import { consequenceShown, isConfirmed } from "./consequence.tsx";
import { type FileRow, type FileShape, readCsvFile } from "./csv-file.ts";
import type { Column } from "./list.tsx";
import { backLink, pageShown, table } from "./shown.tsx";
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
  /** Other fields, before that of the file and after it; what the act needs of them is in the preview's data. */
  fields?(visit: V): readonly [before: readonly FieldOf[], after: readonly FieldOf[]];
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
export function filePage<V extends SignedInVisit, C extends string, D>(file: FileImport<V, C, D>) {
  const show = (visit: V) => formPage(visit, atVisit(visit, file));
  const act = async (visit: V): Promise<Shown> => {
    const { path, all } = atVisit(visit, file);
    if (isConfirmed(visit)) return file.act(visit, carriedIn(visit, path) as D); // what was carried below
    const { rows, encoding } = await readCsvFile(visit.form, file);
    const { title, shown: preview, data, act: button, status } = await file.preview(visit, rows);
    const note = encodingNote(encoding);
    const shown = [note && <p class="hint">{note}</p>, preview];
    if (data === null) return fileShown(visit, { path, all }, { title, shown, status: status ?? 409 });
    const carrier = carrying(visit, path, data);
    const asked = { title, to: path, carried: [CARRIED], act: button, back: path, slow: true, children: shown };
    return consequenceShown(carrier, asked);
  };
  return { path: file.path, show, act, again: show };
}

/** The same file where the page is for one record, which its paths name: with the visit's own. */
function atVisit<F extends Pick<FileForm<never, string>, "path" | "all">>(visit: Visit, file: F): F {
  const own = (path: string) => path.replaceAll(/:(\w+)/g, (_, name) => encodeURIComponent(partIn(visit, name)));
  return { ...file, path: own(file.path), all: [own(file.all[0]), file.all[1]] };
}

function formPage<V extends Visit>(visit: V, file: FileForm<V, string>): Shown {
  const { path: to, title, about, hint, button: submit, all } = file;
  const [before, after] = file.fields?.(visit) ?? [[], []];
  const sent = [{ name: FILE_FIELD, label: "File", type: "file", hint, required: true }, encodingField];
  const fields = [...before, ...sent, ...after];
  return pageShown(visit, title, [
    formShown(visit, { to, files: true, fields, submit }),
    about,
    backLink(visit, ...all),
  ]);
}

/** What became of a file where nothing is left to confirm. */
function fileShown(
  visit: Visit,
  { path, all }: Pick<FileForm<never, string>, "path" | "all">,
  { title, shown, status }: { title: string; shown: ComponentChildren; status: number },
): Shown {
  return {
    ...pageShown(visit, title, [shown, backLink(visit, path, "Another file"), backLink(visit, ...all)]),
    status,
  };
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
  const { words, title: caption, all, isRefused } = file;
  const tableOf = (visit: V, rows: readonly L[]) => table(visit, { caption, rows, empty: "None." }, file.table);
  return filePage<V, C, G[]>({
    ...file,
    async preview(visit, rows) {
      const { good, lines, above } = await file.check(visit, rows);
      const lineTable = tableOf(visit, lines);
      const none = `No ${words.item} can be ${words.done}`;
      if (good.length === 0) return { title: none, shown: lineTable, data: null, act: words.act };
      const [act, left] = [`${words.act} ${counted(good.length, words.item)}`, lines.length - good.length];
      const refused = left > 0 && <p class="alert">{counted(left, words.item)} would be refused, and left out.</p>;
      return { title: `${act}?`, shown: [above, refused, lineTable], data: good, act };
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

/** A row that is left out, and why. Values are not repeated: they may be secrets. */
export interface BadLine {
  line: number;
  problems: readonly string[];
}

/** Rows that a preview names. */
const MOST_NAMED = 100;

/** The rows that are left out of an import, with the reasons. */
export function badLines(visit: Visit, bad: readonly BadLine[]): ComponentChildren {
  const title = `${counted(bad.length, "row")} left out`;
  const more = bad.length - MOST_NAMED;
  return [
    table(visit, { title, caption: "Rows that are left out", rows: bad.slice(0, MOST_NAMED) }, [
      { title: "Line", cell: (one) => one.line },
      { title: "Why", cell: (one) => one.problems.join("; ") },
    ]),
    more > 0 && <p>And {more} more.</p>,
  ];
}
