import type { ComponentChildren } from "preact";
import { counted } from "../../../core/kernel/counted.ts";
import { type PassportField, passportNames, requiredFields } from "../../../core/kernel/identity-fields.ts";
import type { PassportLine, ReadPassports } from "../../../core/passports/file.ts";
import { type FieldOf, fieldsShown } from "../../parts/act-form.tsx";
import { CARRIED, carrying } from "../../parts/carried.ts";
import { Form, Submit } from "../../parts/form.tsx";
import type { Column } from "../../parts/list.tsx";
import { backLink, pageShown, table } from "../../parts/shown.tsx";
import { encodingNote } from "../../parts/upload.ts";
import { plain } from "../../parts/words.ts";
import { field, type PortalVisit, type Shown } from "../../session/visit.ts";

/** Where a file is sent, and its columns after it. */
export const IMPORT = "/passports/import";

/** A file as the pages hand it on: nothing of it is stored between the steps. */
export interface PassportsFile {
  text: string;
  encoding: string;
  read: ReadPassports;
}

/** The form's field for the place of a column. */
export function fieldOf(name: PassportField): string {
  return `column_${name}`;
}

/** How a file is read, as one text. */
export function signatureOf({ positions, dates }: Pick<ReadPassports, "positions" | "dates">): string {
  return [...passportNames.map((name) => positions.get(name) ?? "-"), dates ?? "-"].join(" ");
}

/** Rows that the preview shows. */
const FIRST_ROWS = 5;

const dateWords = [
  ["", "YYYY-MM-DD"],
  ["dmy", "day, month, year: 31/12/2027"],
  ["mdy", "month, day, year: 12/31/2027"],
  ["ymd", "year, month, day: 2027/12/31"],
] as const;

/** Columns and what they make of the file: its first rows, and every row that is wrong. */
export function mappingShown(visit: PortalVisit, { text, encoding, read }: PassportsFile): Shown {
  const { missing, lines } = read;
  const good = lines.filter(({ checked }) => "ok" in checked).length;
  const { form } = carrying(visit, IMPORT, { text, encoding });
  const columns: FieldOf[] = [
    ...columnFields(read),
    { name: "dates", label: "Dates", options: dateWords, value: read.dates ?? "" },
  ];
  return pageShown(visit, "Import passports", [
    <Notes read={read} encoding={encoding} />,
    <Form visit={visit} to={IMPORT} slow>
      <input type="hidden" name={CARRIED} value={field(form, CARRIED)} />
      <input type="hidden" name="seen" value={signatureOf(read)} />
      <section>
        <h2>Columns</h2>
        <div class="record">{fieldsShown(visit, columns)}</div>
      </section>
      <div class="acts">
        {missing.length === 0 && good > 0 && (
          <Submit name="step" value="import">
            Import {counted(good, "row")}
          </Submit>
        )}
        <Submit name="step" value="show" kind="plain">
          Show it with these columns
        </Submit>
      </div>
    </Form>,
    missing.length === 0 && previewShown(visit, lines, good),
    backLink(visit, IMPORT, "Choose another file"),
  ]);
}

function Notes({ read, encoding }: { read: ReadPassports; encoding: string }) {
  const { missing, unread, above, unclearDates, suggestions } = read;
  const notes = [
    encodingNote(encoding),
    above > 0 && `${counted(above, "line")} above the header left out.`,
    unread.length > 0 && `Not read: ${unread.join(", ")}.`,
    unclearDates > 0 && `${counted(unclearDates, "row")}: dates are not YYYY-MM-DD. Say in which order they are.`,
    ...suggestions,
  ].filter((note) => typeof note === "string");
  return (
    <>
      {missing.length > 0 && (
        <p class="alert bad" role="alert">
          Choose the columns of: {missing.map(plain).join(", ")}.
        </p>
      )}
      {notes.map((note) => (
        <p class="hint">{note}</p>
      ))}
    </>
  );
}

function columnFields({ names, positions }: ReadPassports): FieldOf[] {
  const options = [
    ["", "not in the file"] as const,
    ...names.map((name, at) => [String(at), name === "" ? `column ${at + 1}` : name] as const),
  ];
  const needed = new Set<string>(requiredFields);
  return passportNames.map((name) => ({
    name: fieldOf(name),
    label: needed.has(name) ? `${plain(name)} (needed)` : plain(name),
    options,
    value: String(positions.get(name) ?? ""),
  }));
}

/** A row of one of the tables, with its number in the file. */
interface Noted {
  line: number;
  who: string;
  words: string;
}

const notedColumns: Column<Noted>[] = [
  { title: "Line", right: true, cell: (one) => one.line },
  { title: "Name", cell: (one) => one.who },
  { title: "Why", cell: (one) => one.words },
];

function previewShown(visit: PortalVisit, lines: readonly PassportLine[], good: number): ComponentChildren {
  const bad = lines.flatMap((one) => ("problems" in one.checked ? [notedOf(one, one.checked.problems)] : []));
  const doubtful = lines.flatMap((one) => {
    const { warnings = [] } = one.checked;
    return "ok" in one.checked && warnings.length > 0 ? [notedOf(one, warnings)] : [];
  });
  const read = passportNames.filter((name) => lines.some(({ row }) => row.values[name] !== ""));
  const columns = read.map((name) => ({ title: plain(name), cell: ({ row }: PassportLine) => row.values[name] }));
  const left = "Left out. After the import they can be downloaded with the reasons.";
  const taken = "Imported all the same.";
  return [
    <section>
      <h2>First rows</h2>
      <p>
        {counted(lines.length, "row")} in the file: {good} good, {bad.length} wrong. Nothing is stored yet.
      </p>
      {table(visit, { caption: "First rows", rows: lines.slice(0, FIRST_ROWS) }, columns)}
    </section>,
    notedRows(visit, { title: `${counted(bad.length, "row")} wrong`, rows: bad, why: left }),
    notedRows(visit, { title: `${counted(doubtful.length, "row")} doubtful`, rows: doubtful, why: taken }),
  ];
}

function notedOf({ row }: PassportLine, words: readonly string[]): Noted {
  const { first_name, last_name } = row.values;
  return { line: row.line, who: `${first_name} ${last_name}`.trim(), words: words.join("; ") };
}

function notedRows(visit: PortalVisit, { title, rows, why }: { title: string; rows: Noted[]; why: string }) {
  if (rows.length === 0) return null;
  return (
    <section>
      <h2>{title}</h2>
      <p>{why}</p>
      {table(visit, { caption: title, rows }, notedColumns)}
    </section>
  );
}
