import { once } from "node:events";
import type { CsvForm, Globals } from "../kernel/globals.ts";
import { cleanJson, terminalText } from "./clean.ts";
import { makeSheet } from "./make-sheet.ts";
import type { Column, Sheet } from "./sheet.ts";
import { openTable, type TableDrawing } from "./table.ts";

/** A list that is printed page by page, while it is read: memory holds one page, however long it is. */
export interface Listing<T extends object> {
  /** The member of the JSON document that holds the rows. */
  readonly key: string;
  readonly pages: AsyncIterable<readonly T[]>;
  /** The columns of its table. Where rows are records instead: what is printed of a row. */
  readonly columns: readonly Column<T>[] | ((sheet: Sheet, row: T) => Promise<string>);
  /** Printed in place of a table without rows. */
  readonly empty: string;
  /** The members of the JSON document after the rows; asked for once all pages are read. */
  rest(count: number): object;
  /** A line for a person below the rows, on stderr; none with --quiet. Asked for once all pages are read. */
  note?(count: number): string | undefined;
}

/** Pages of rows as pieces of text; nothing is written before the first page is read. */
type Pieces = AsyncGenerator<string>;

/** Prints the list to its end. What its pages throw comes through; a JSON document begun is ended by `endDocument`. */
export async function printListing<T extends object>(listing: Listing<T>, globals: Globals): Promise<void> {
  let count = 0;
  const counted: Listing<T> = {
    ...listing,
    pages: (async function* () {
      for await (const rows of listing.pages) {
        count += rows.length;
        yield rows;
      }
    })(),
  };
  for await (const piece of piecesOf(counted, globals)) await write(piece);
  const note = listing.note?.(count);
  if (note !== undefined && !globals.quiet) process.stderr.write(`${terminalText(note, { colors: false })}\n`);
}

function piecesOf<T extends object>(listing: Listing<T>, globals: Globals): Pieces {
  const { shape, json } = globals;
  if (shape !== null) return "csv" in shape ? csvOf(listing, shape.csv) : shapedOf(listing, shape);
  return json ? jsonOf(listing) : textOf(listing, globals);
}

async function write(piece: string): Promise<void> {
  if (!process.stdout.write(piece)) await once(process.stdout, "drain");
}

/** Whether rows of a JSON document are on stdout, and its end is not. */
let documentOpen = false;

/** One document: `{"data": […rows], …rest}`. */
async function* jsonOf<T extends object>({ key, pages, rest }: Listing<T>): Pieces {
  let count = 0;
  for await (const rows of pages) {
    if (rows.length === 0) continue;
    const texts = rows.map((row) => `    ${cleanJson(row).replaceAll("\n", "\n    ")}`);
    const before = count === 0 ? `{\n  ${cleanJson(key)}: [` : ",";
    documentOpen = true;
    count += rows.length;
    yield `${before}\n${texts.join(",\n")}`;
  }
  documentOpen = false;
  if (count === 0) yield `${cleanJson({ [key]: [], ...rest(0) })}\n`;
  else yield `\n  ],${cleanJson(rest(count)).slice(1)}\n`;
}

/** The end of a document that a failure cut short, with the failure as its last member; null: none was begun. */
export function endDocument(failure: object): string | null {
  if (!documentOpen) return null;
  documentOpen = false;
  return `\n  ],${cleanJson(failure).slice(1)}\n`;
}

/** Filters and templates see the whole document: its rows are held for them. */
async function* shapedOf<T extends object>(
  { key, pages, rest }: Listing<T>,
  shape: { jq: string } | { template: string },
): Pieces {
  const rows: T[] = [];
  for await (const page of pages) rows.push(...page);
  const { shaped } = await import("./shape.ts");
  const text = await shaped({ [key]: rows, ...rest(rows.length) }, shape);
  if (text !== "") yield `${text}\n`;
}

async function* csvOf<T extends object>({ pages }: Listing<T>, form: CsvForm): Pieces {
  const { openCsv } = await import("./csv.ts");
  let csv: ReturnType<typeof openCsv> | null = null;
  for await (const rows of pages) {
    const [first] = rows;
    if (first === undefined) continue;
    const header = csv === null ? openCsv(first, form).header : "";
    csv ??= openCsv(first, form);
    yield header + csv.draw(rows);
  }
}

async function* textOf<T extends object>({ columns, empty, pages }: Listing<T>, globals: Globals): Pieces {
  const sheet = makeSheet(process.stdout, globals);
  const plain = (text: string) => `${terminalText(text, { colors: sheet.paint.level > 0 })}\n`;
  const drawn = typeof columns === "function" ? records(sheet, columns, pages) : tables(sheet, columns, pages);
  let isEmpty = true;
  for await (const text of drawn) {
    isEmpty = false;
    yield plain(text);
  }
  if (isEmpty && empty !== "") yield plain(sheet.paint.dim(empty));
}

/** The pages of one table; its head is on the first one. */
async function* tables<T extends object>(sheet: Sheet, columns: readonly Column<T>[], pages: Listing<T>["pages"]) {
  let table: TableDrawing<T> | null = null;
  for await (const rows of pages) {
    if (rows.length === 0) continue;
    const opened: TableDrawing<T> = table ?? openTable(sheet, columns, rows);
    const head = table === null && opened.head !== "" ? `${opened.head}\n` : "";
    table = opened;
    yield head + opened.draw(rows);
  }
}

/** Each row by itself, with an empty line between two. */
async function* records<T extends object>(
  sheet: Sheet,
  draw: (sheet: Sheet, row: T) => Promise<string>,
  pages: Listing<T>["pages"],
) {
  let before = "";
  for await (const rows of pages) {
    for (const row of rows) {
      yield before + (await draw(sheet, row));
      before = "\n";
    }
  }
}
